// A world that runs a program, for tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "volvox/meld/meld_modules.h"
#include "volvox/meld/programs.h"

namespace volvox::meld {

inline Result<std::shared_ptr<const Program>> compiled(const std::string& text) {
  return load_program("test.meld", [&](const std::filesystem::path& file) -> Result<std::string> {
    if (file == "test.meld") return text;
    return Error("the file is not there", "make it");
  });
}

inline std::string error_of(const std::string& text) {
  const auto program = compiled(text);
  return program.ok() ? "" : program.error().text();
}

struct Bench {
  explicit Bench(const std::string& text, lattice::Kind kind = lattice::Kind::cubic, MachineOptions options = {},
                 std::uint64_t seed = 1, int threads = 1, const lattice::MotionOptions& motion = {})
      : pool(threads), world(lattice::Lattice(kind), {.seed = seed, .motion = motion}, &pool) {
    const auto program = compiled(text);
    EXPECT_TRUE(program.ok()) << (program.ok() ? "" : program.error().text());
    auto made = std::make_unique<MeldModules>(*program, options);
    modules = made.get();
    EXPECT_TRUE(world.load_modules(std::move(made)).ok());
  }
  void box(std::int32_t x, std::int32_t y = 1, std::int32_t z = 1) {
    EXPECT_TRUE(world.add_box({0, 0, 0}, {x - 1, y - 1, z - 1}).ok());
  }
  void start() { EXPECT_TRUE(world.start().ok()); }
  std::string run(std::int64_t ticks = 1000) {
    const auto done = world.run(ticks);
    return done.ok() ? "" : done.error().text();
  }
  // All facts of a catom that rules see, but what it senses, sorted.
  std::string facts(std::uint32_t catom) const {
    auto list = modules->facts(catom);
    std::sort(list.begin(), list.end());
    std::string out;
    for (const std::string& fact : list) out += (out.empty() ? "" : " ") + fact;
    return out;
  }
  bool has(std::uint32_t catom, const std::string& fact) const {
    const auto list = modules->facts(catom);
    return std::find(list.begin(), list.end(), fact) != list.end();
  }

  ThreadPool pool;
  lattice::CatomWorld world;
  MeldModules* modules = nullptr;
};

inline std::string own(const std::string& name) {
  for (const OwnProgram& program : own_programs())
    if (program.name == name) return program.text;
  return "";
}

// Of one catom, after a program has run.
inline std::string outcome(const std::string& text, std::int64_t ticks = 10) {
  Bench bench(text);
  bench.box(1);
  bench.start();
  const std::string error = bench.run(ticks);
  return error.empty() ? bench.facts(0) : error;
}

}  // namespace volvox::meld
