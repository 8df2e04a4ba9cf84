#include "volvox/cli/ranks.h"

#include <fmt/format.h>

#include <cstdio>

#include "volvox/base/platform/stop_on_signal.h"
#include "volvox/cli/commands.h"
#include "volvox/cli/terminal.h"

namespace volvox::cli {

RanksEnd::~RanksEnd() {
  if (ranks_ == nullptr || ranks_->rank() != 0) return;
  for (int rank = 1; rank < ranks_->size(); ++rank) (void)ranks_->send(rank, "over");
}

int serve_rank(cluster::Ranks& ranks, const cluster::Work& work, int jobs, const std::string& identity) {
  const platform::StopOnSignal stop;
  return served(ranks, cluster::serve(ranks, work, jobs, identity, stop.requested()));
}

int served(const cluster::Ranks& ranks, const Result<bool>& how) {
  if (!how.ok()) {
    std::fputs(fmt::format("rank {}: {}\n", ranks.rank(), how.error().text()).c_str(), stderr);
    return bad_input;
  }
  return *how ? done : run_failed;
}

}  // namespace volvox::cli
