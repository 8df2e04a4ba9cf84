// libvolvox_mpi: letters by MPI. It links nothing of Volvox.
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <list>
#include <string>
#include <vector>

#include "volvox/cluster/mpi_api.h"

namespace {

constexpr int tag = 23;

struct Sent {
  std::string bytes;
  MPI_Request request = MPI_REQUEST_NULL;
};
// MPI itself is one for a process, and so is this.
std::list<Sent> sent;
std::vector<char> received;

void forget_what_has_left() {
  for (auto it = sent.begin(); it != sent.end();) {
    int done = 0;
    MPI_Test(&it->request, &done, MPI_STATUS_IGNORE);
    it = done ? sent.erase(it) : std::next(it);
  }
}

int begin(int* rank, int* size, char* error, size_t error_size) {
  int ready = 0;
  MPI_Initialized(&ready);
  if (!ready && MPI_Init(nullptr, nullptr) != MPI_SUCCESS) {
    std::snprintf(error, error_size, "MPI_Init failed");
    return 1;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  MPI_Comm_size(MPI_COMM_WORLD, size);
  return 0;
}

int send(int to, const char* bytes, size_t count) {
  if (count > 1000000000) return 1;
  forget_what_has_left();
  Sent& one = sent.emplace_back();
  one.bytes.assign(bytes, count);
  // Synchronous: it has left when it is being received, which end() relies on.
  return MPI_Issend(one.bytes.data(), static_cast<int>(count), MPI_BYTE, to, tag, MPI_COMM_WORLD, &one.request);
}

int receive(int* from, const char** bytes, size_t* count) {
  forget_what_has_left();
  int there = 0, size = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &there, &status);
  if (!there) return 0;
  MPI_Get_count(&status, MPI_BYTE, &size);
  received.resize(static_cast<size_t>(size) + 1);
  MPI_Recv(received.data(), size, MPI_BYTE, status.MPI_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  *from = status.MPI_SOURCE, *bytes = received.data(), *count = static_cast<size_t>(size);
  return 1;
}

// Letters that nobody will read must not keep MPI from ending: those of others are taken and dropped. A rank enters the
// barrier when all of its own have been received; when all ranks are there, no letter is under way any more.
void end() {
  MPI_Request all = MPI_REQUEST_NULL;
  for (int done = 0, entered = 0; !done;) {
    int from = 0;
    const char* bytes = nullptr;
    size_t count = 0;
    if (receive(&from, &bytes, &count) != 0) continue;
    if (!entered && sent.empty()) MPI_Ibarrier(MPI_COMM_WORLD, &all), entered = 1;
    if (entered) MPI_Test(&all, &done, MPI_STATUS_IGNORE);
    if (!done) usleep(1000);
  }
  MPI_Finalize();
}

const volvox_mpi_api api = {VOLVOX_MPI_API_VERSION, begin, send, receive, end};

}  // namespace

extern "C" __attribute__((visibility("default"))) const volvox_mpi_api* volvox_mpi() { return &api; }
