/* What libvolvox_mpi offers: C, so that the command needs no MPI to be built and to run.
 * All functions are to be called from one thread. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define VOLVOX_MPI_API_VERSION 1u

struct volvox_mpi_api {
  uint32_t version;
  /* 0, or another number and a text in `error`. */
  int (*begin)(int* rank, int* size, char* error, size_t error_size);
  /* Copies the bytes and returns at once. 0: done. */
  int (*send)(int to, const char* bytes, size_t count);
  /* 1: a letter, in memory that is valid until the next call; 0: there is none. */
  int (*receive)(int* from, const char** bytes, size_t* count);
  void (*end)(void); /* waits for the other ranks */
};
typedef const struct volvox_mpi_api* (*volvox_mpi_function)(void);
