// What `bench lattice` and `bench particles` share: named scenes, of several sizes and on several numbers of threads,
// each measured in a process of its own, so that its memory is its own.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "volvox/base/log.h"
#include "volvox/base/result.h"

namespace volvox::cli {

struct BenchScenesArguments {
  std::string scenes, n, threads = "1";  // scenes and numbers, separated by commas
  bool json = false, list = false;
};

struct BenchScenes {
  struct Info {
    std::string name, description;
    std::size_t n = 0;  // unless another number is asked for
  };
  std::vector<Info> all;
  std::uint64_t most = 0;  // n
  // One row of the results; runs in the child. n is 0 for the scene's own.
  std::function<Result<nlohmann::ordered_json>(const std::string& scene, std::size_t n, int threads)> measure;
  // The rows, each with `peak_mb`, as a table.
  std::function<void(const nlohmann::ordered_json& results)> print;
  bool in_this_process = false;  // it is one of several that measure together
};

int run_bench_scenes(const BenchScenesArguments& arguments, const BenchScenes& scenes, Log& log);

}  // namespace volvox::cli
