// Runs the scenes on engines side by side, in one process, and prints one line each (or one
// JSON object): bench_engines [--scenes S1,S2,S3] [--engines native,bullet] [--n N]
// [--seconds S] [--threads N] [--json]
#include <sys/resource.h>
#include <time.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>

#include "bench/engines_scenes.h"

namespace volvox::bench {
namespace {

struct Options {
  std::vector<std::string> scenes{"S1", "S2", "S3"}, engines{"native", "bullet"};
  int modules = 0;  // 0: what the scene is defined with
  double seconds = 2;
  int threads = 1;
  bool json = false;
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

struct Outcome {
  Metrics worst;
  double ms = 0, cpu_ms = 0;
  int ticks = 0;
  std::string settings;
};

// Time of this process on all its threads: what a step costs, however busy the machine is.
double cpu_now() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Times and metrics count from the second quarter on (one second at most): the start, where
// everything falls onto the plane, is left out.
Outcome run(const BenchScene& scene, const std::string& engine_name, const Options& options) {
  ThreadPool pool(options.threads);
  physics::EngineSettings settings;
  settings.threads = options.threads > 1 ? &pool : nullptr;
  auto made = physics::built_in_engines().make(engine_name, settings);
  Outcome outcome;
  if (!made.ok()) {
    std::fprintf(stderr, "%s\n", made.error().text().c_str());
    return outcome;
  }
  physics::Engine& engine = **made;
  outcome.settings = engine.info().settings;
  const double tick = 1.0 / 60, skip = std::min(1.0, options.seconds / 4);
  SceneRun scene_run(scene, engine, tick);
  const int ticks = static_cast<int>(options.seconds / tick + 0.5);
  double total = 0, cpu_total = 0;
  for (int i = 0; i < ticks; ++i) {
    scene_run.command();
    const bool counts = scene_run.time() >= skip;
    const double start = now(), cpu_start = cpu_now();
    const physics::StepStatus status = scene_run.step();
    const double taken = now() - start, cpu_taken = cpu_now() - cpu_start;
    if (!status.ok()) {
      std::fprintf(stderr, "%s %s: %s\n", engine_name.c_str(), scene.name.c_str(), status.what.c_str());
      outcome.worst.finite = false;
      break;
    }
    if (!counts) continue;
    total += taken;
    cpu_total += cpu_taken;
    ++outcome.ticks;
    scene_run.measure(outcome.worst, i % 10 == 0);
  }
  outcome.ms = outcome.ticks > 0 ? 1e3 * total / outcome.ticks : 0;
  outcome.cpu_ms = outcome.ticks > 0 ? 1e3 * cpu_total / outcome.ticks : 0;
  return outcome;
}

void print(const Options& options, const BenchScene& scene, const std::string& engine, int modules, const Outcome& o, bool first) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const Metrics& w = o.worst;
  if (options.json) {
    std::printf("%s{\"scene\": \"%s\", \"engine\": \"%s\", \"threads\": %d, \"n\": %d, \"dt\": %.7f, \"ms_per_step\": %.4f, \"cpu_ms_per_step\": %.4f, "
                "\"hinge_max_mm\": %.5f, \"hinge_max_deg\": %.5f, \"dock_max_mm\": %.5f, \"dock_max_deg\": %.5f, \"lift_m\": %.4f, "
                "\"penetration_max_mm\": %.4f, \"rss_mb\": %.1f}",
                first ? "" : ", ", scene.name.c_str(), engine.c_str(), options.threads, modules, 1.0 / 60, o.ms, o.cpu_ms, w.hinge_mm,
                w.hinge_deg, w.dock_mm, w.dock_deg, w.lift_m, w.penetration_mm, static_cast<double>(usage.ru_maxrss) / 1024);
    return;
  }
  std::printf("%s %-7s n=%d threads=%d  %9.3f ms/step (%.3f of processor time)  hinge %.4f mm %.4f deg  dock %.4f mm %.4f deg  lift %.4f m  "
              "penetration %.3f mm%s  (%s)\n",
              scene.name.c_str(), engine.c_str(), modules, options.threads, o.ms, o.cpu_ms, w.hinge_mm, w.hinge_deg, w.dock_mm, w.dock_deg,
              w.lift_m, w.penetration_mm, w.finite ? "" : "  FAILED", o.settings.c_str());
  std::fflush(stdout);
}

int main_with(const Options& options) {
  const std::map<std::string, int> sizes{{"S1", 1000}, {"S2", 1000}, {"S3", 1500}};
  if (options.json) std::printf("{\"results\": [");
  bool first = true;
  for (const std::string& name : options.scenes) {
    const auto size = sizes.find(name);
    if (size == sizes.end()) {
      std::fprintf(stderr, "there is no scene '%s'; choose of S1, S2, S3\n", name.c_str());
      return 2;
    }
    const int modules = options.modules > 0 ? options.modules : size->second;
    const BenchScene scene = make_scene(name, modules);
    for (const std::string& engine : options.engines) {
      print(options, scene, engine, modules, run(scene, engine, options), first);
      first = false;
    }
  }
  if (options.json) std::printf("]}\n");
  return 0;
}

}  // namespace
}  // namespace volvox::bench

int main(int count, char** words) {
  volvox::bench::Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const char* value = i + 1 < count ? words[i + 1] : "";
    if (word == "--json") {
      options.json = true;
      continue;
    }
    if (word == "--scenes") options.scenes = volvox::bench::split(value);
    else if (word == "--engines") options.engines = volvox::bench::split(value);
    else if (word == "--n") options.modules = std::atoi(value);
    else if (word == "--seconds") options.seconds = std::atof(value);
    else if (word == "--threads") options.threads = std::max(1, std::atoi(value));
    else {
      std::fprintf(stderr, "unknown option '%s'; options: --scenes --engines --n --seconds --threads --json\n", word.c_str());
      return 2;
    }
    ++i;
  }
  return volvox::bench::main_with(options);
}
