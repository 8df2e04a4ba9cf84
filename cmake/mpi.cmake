# MPI, where it is (libopenmpi-dev): target MPI::MPI_CXX. Without its C++ bindings, which MPI 3 has removed.
set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI QUIET COMPONENTS CXX)
