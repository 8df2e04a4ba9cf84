// What NVIDIA's compiler must hear so that a function is compiled for GPUs, too. Other compilers hear nothing.
// Macros only: no state, any thread.
#pragma once

#ifdef __CUDACC__
#  define VOLVOX_ALSO_ON_GPU __host__ __device__
#else
#  define VOLVOX_ALSO_ON_GPU
#endif
