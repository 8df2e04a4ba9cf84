// What `evolve` and `sweep` do as one of several ranks of a cluster.
// For the thread of main. Who does which piece of work changes no result (cluster/ranks.h).
#pragma once

#include <string>

#include "volvox/cluster/crew.h"

namespace volvox::cli {

constexpr const char* ranks_help =
    "who works together: auto (the ranks of mpirun or srun), mpi, slurm (also the tasks of a job array), none "
    "(docs/cluster.md)";

// Rank 0 tells the others at the end that it is over: at the latest when this object ends, whatever the reason.
class RanksEnd {
 public:
  explicit RanksEnd(cluster::Ranks* ranks) : ranks_(ranks) {}
  ~RanksEnd() { over(); }
  void over();     // now, and not again
  void stopped();  // on request: whoever may wait until rank 0 is started again is not told
  RanksEnd(const RanksEnd&) = delete;
  RanksEnd& operator=(const RanksEnd&) = delete;

 private:
  cluster::Ranks* ranks_;  // may be null
};

// The whole command of a rank that is not the first: the exit status.
int serve_rank(cluster::Ranks& ranks, const cluster::Work& work, int jobs, const std::string& identity);
// ", by rank: 12 13 11": the pieces of work that each has done; nothing of one rank alone.
std::string by_rank(const cluster::Crew& crew);

// Reports how it ended.
int served(const cluster::Ranks& ranks, const Result<bool>& how);

}  // namespace volvox::cli
