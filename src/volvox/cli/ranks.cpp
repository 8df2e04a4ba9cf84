#include "volvox/cli/ranks.h"

#include <fmt/format.h>

#include <cstdio>

#include "volvox/base/platform/stop_on_signal.h"
#include "volvox/cli/commands.h"
#include "volvox/cli/terminal.h"

namespace volvox::cli {

void RanksEnd::over() {
  if (ranks_ != nullptr && ranks_->rank() == 0) cluster::say_over(*ranks_);
  ranks_ = nullptr;
}

void RanksEnd::stopped() {
  if (ranks_ != nullptr && ranks_->rank_0_may_come_back()) ranks_ = nullptr;
  over();
}

int serve_rank(cluster::Ranks& ranks, const cluster::Work& work, int jobs, const std::string& identity) {
  const platform::StopOnSignal stop;
  return served(ranks, cluster::serve(ranks, work, jobs, identity, stop.requested()));
}

std::string by_rank(const cluster::Crew& crew) {
  return crew.done_by_rank().size() > 1 ? fmt::format(", by rank: {}", fmt::join(crew.done_by_rank(), " ")) : "";
}

int served(const cluster::Ranks& ranks, const Result<bool>& how) {
  if (!how.ok()) {
    std::fputs(fmt::format("rank {}: {}\n", ranks.rank(), how.error().text()).c_str(), stderr);
    return bad_input;
  }
  return *how ? done : run_failed;
}

}  // namespace volvox::cli
