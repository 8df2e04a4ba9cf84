// The processes of one job on a cluster, which give each other texts. Rank 0 leads; the others serve it (crew.h).
//   mpi    started by mpirun, or by srun with PMIx: messages of MPI, by a library that is loaded when it is wanted
//   slurm  the tasks of `srun` or of a job array: files in a folder that all of them see. A rank may die and come back
// For one thread. Nothing here reaches a result: who does a piece of work, and when, changes no bit.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "volvox/base/result.h"

namespace volvox::cluster {

struct Letter {
  int from = 0;
  std::string text;
};

class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Does not wait for the receiver. Letters of one sender arrive in their order; by files, one that cannot be read yet
  // comes after later ones, and some of a sender that died may be lost.
  virtual Result<void> send(int to, const std::string& text) = 0;
  // The next letter, if there is one. It also says to the others that this rank is alive: to be called often.
  virtual std::optional<Letter> receive() = 0;
  // A rank that has not been heard of for a while. Always false where the death of one rank ends all (MPI).
  virtual bool is_lost(int rank) = 0;
  // Whether rank 0 may end and be started again while the others wait for it.
  virtual bool rank_0_may_come_back() const = 0;
  // How long to wait, at most, between two looks for letters (s): a look may cost a shared file system something.
  virtual double longest_pause() const = 0;
};

// What the environment says about this process.
struct Place {
  int rank = 0, size = 1;
  std::string job{};  // by which the ranks of one job know each other
};
std::optional<Place> place_in_mpi();    // started by mpirun or by a srun that speaks PMI
std::optional<Place> place_in_slurm();  // a task of srun, or of a job array

// `how`: auto (what started this process; job arrays only on demand, because most of them run something else in each
// task), mpi, slurm, none. Null: it is alone. `shared`: a folder that all ranks see, which slurm needs.
Result<std::unique_ptr<Ranks>> join(const std::string& how, const std::filesystem::path& shared);

// The two kinds.
Result<std::unique_ptr<Ranks>> join_by_mpi();
Result<std::unique_ptr<Ranks>> join_by_files(const Place& place, const std::filesystem::path& folder, double patience);

}  // namespace volvox::cluster
