// The kernels of a GPU, one robot after the other on the processor, behind the interface of a device: so that what uses
// a GPU is tested where there is none. The processor itself has engines, which are faster.
// Plain functions; a device is used by one thread at a time. The bits are those of a GPU and of the engines.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "volvox/physics/cuda/device_api.h"
#include "volvox/physics/native/lone.h"

namespace volvox::physics::cuda {

struct DeviceRobots {
  native::LonePattern pattern;  // whose tables are the caller's, and stay
  std::vector<double> words;
  std::vector<MotorWave> waves;
  std::vector<DeviceEnd> ends;
  std::unique_ptr<native::LargestLoneRoom> room;
  std::vector<int> watched{};

  std::size_t width() const { return words.size() / ends.size(); }
  std::size_t joints() const { return pattern.links.size() - 1; }
  std::span<double> words_of(std::size_t robot) { return std::span(words).subspan(robot * width(), width()); }
  // command(node) of a robot that is moved through a tick.
  template <class Command>
  void move(std::size_t robot, const Command& command, double length, bool publish) {
    DeviceEnd& end = ends[robot];
    if (end.end != native::LoneEnd::moved) return;
    std::vector<MotorCommand> commands(joints() + 8);
    for (std::size_t node = 1; node <= joints(); ++node)
      commands[static_cast<std::size_t>(pattern.links[node].joint_index)] = command(node);
    end.end = tick_lone(pattern, *room, words_of(robot), commands, length, publish);
    end.ticks += end.end == native::LoneEnd::moved;
  }
};

inline DeviceApi processor_api() {
  DeviceApi api;
  api.version = device_api_version;
  api.pattern_size = sizeof(native::LonePattern), api.link_size = sizeof(native::LoneLink);
  api.wave_size = sizeof(MotorWave);
  api.create = [](const native::LonePattern* pattern, std::size_t count, char* message) -> DeviceRobots* {
    if (!native::LargestLoneRoom::holds(layout_of(*pattern))) {
      std::strcpy(message, "its kernels have no room for a robot with so many links, axes or contacts");
      return nullptr;
    }
    auto* robots =
        new DeviceRobots{*pattern, {}, {}, std::vector<DeviceEnd>(count), std::make_unique<native::LargestLoneRoom>()};
    robots->words.resize(count * static_cast<std::size_t>(layout_of(*pattern).all_words()));
    robots->waves.resize(count * robots->joints());
    return robots;
  };
  api.destroy = [](DeviceRobots* robots) { delete robots; };
  api.load = [](DeviceRobots* r, std::size_t first, std::size_t count, const double* words, const MotorWave* waves,
                char*) {
    std::copy_n(words, count * r->width(), r->words.data() + first * r->width());
    std::copy_n(waves, count * r->joints(), r->waves.data() + first * r->joints());
    std::fill_n(r->ends.begin() + static_cast<std::ptrdiff_t>(first), count, DeviceEnd{});
    return DeviceAnswer::done;
  };
  api.step = [](DeviceRobots* r, const DeviceTick* ticks, std::size_t count, double*, char*) {
    for (std::size_t i = 0; i < r->ends.size(); ++i) {
      for (std::size_t k = 0; k < count; ++k) {
        const auto command = [&](std::size_t node) { return r->waves[i * r->joints() + node - 1].at(ticks[k].time); };
        r->move(i, command, ticks[k].length, k + 1 == count);
      }
    }
    return DeviceAnswer::done;
  };
  api.watch = [](DeviceRobots* r, const int* words, std::size_t count, char*) {
    r->watched.assign(words, words + count);
    return DeviceAnswer::done;
  };
  api.tick = [](DeviceRobots* r, const double* orders, double* watched, DeviceEnd* ends, double*, char*) {
    const auto width = static_cast<std::size_t>(order_words(static_cast<int>(r->joints()) + 1));
    for (std::size_t i = 0; i < r->ends.size(); ++i) {
      const double* own = orders + i * width;
      const auto command = [&](std::size_t node) {
        struct {
          const double* word;
          void operator()(double& x) { x = *word++; }
        } in{own + order_head + command_words * static_cast<int>(node - 1)};
        MotorCommand c;
        native::archive_command(in, c);
        return c;
      };
      if (own[0] > 0) r->move(i, command, own[0], true);
      for (const int word : r->watched) *watched++ = r->words_of(i)[static_cast<std::size_t>(word)];
      ends[i] = r->ends[i];
    }
    return DeviceAnswer::done;
  };
  api.save = [](DeviceRobots* r, std::size_t first, std::size_t count, double* words, DeviceEnd* ends, char*) {
    std::copy_n(r->words.data() + first * r->width(), count * r->width(), words);
    std::copy_n(r->ends.data() + first, count, ends);
    return DeviceAnswer::done;
  };
  api.name = [](char* message) {
    std::strcpy(message, "the processor");
    return DeviceAnswer::done;
  };
  return api;
}

}  // namespace volvox::physics::cuda
