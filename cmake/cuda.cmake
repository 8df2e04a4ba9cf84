# Libraries for NVIDIA's GPUs, loaded at run time. They are there where the CUDA toolkit is, and nowhere else; they link
# nothing of Volvox, and the CUDA runtime statically, so that they need the driver only.
# (CMake 3.25 does not know the C++20 of today's nvcc, so it is called by hand.)
find_program(NVCC nvcc PATHS /usr/local/cuda/bin)
set(VOLVOX_NVCC_RELEASE 0)
if(NVCC)
  execute_process(COMMAND ${NVCC} --version OUTPUT_VARIABLE nvcc_version ERROR_QUIET)
  if(nvcc_version MATCHES "release ([0-9]+)")
    set(VOLVOX_NVCC_RELEASE ${CMAKE_MATCH_1})
  endif()
endif()

# volvox_cuda_library(volvox_cuda WHAT "particles" SOURCES fluid lists): lib/volvox/libvolvox_cuda.so from fluid.cu ...
function(volvox_cuda_library name)
  cmake_parse_arguments(ARG "" "WHAT" "SOURCES" ${ARGN})
  # Before 13, functions that put conditions into a graph had other signatures.
  if(VOLVOX_NVCC_RELEASE LESS 13)
    message(STATUS "No CUDA toolkit 13 or later here (nvcc): ${ARG_WHAT} on the processor only (lib${name} is not built)")
    return()
  endif()
  # The same bits as the processor: products and sums are never fused. Code for Hopper; for what is older or newer the
  # driver compiles the rest, once.
  set(flags -std=c++20 -O3 -DNDEBUG -fmad=false --expt-relaxed-constexpr -diag-suppress=186 -I${PROJECT_SOURCE_DIR}/src
    -gencode=arch=compute_80,code=compute_80 -gencode=arch=compute_90,code=sm_90
    -Xcompiler=-fPIC,-fvisibility=hidden,-ffp-contract=off)
  foreach(source ${ARG_SOURCES})
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${source}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${NVCC} ${flags} -MD -MF ${object}.d -c ${CMAKE_CURRENT_SOURCE_DIR}/${source}.cu -o ${object}
      DEPENDS ${source}.cu DEPFILE ${object}.d COMMENT "Building CUDA object ${source}.o" VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  set(library ${PROJECT_BINARY_DIR}/lib/volvox/lib${name}.so)
  add_custom_command(OUTPUT ${library}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/lib/volvox
    COMMAND ${NVCC} -shared -cudart static ${objects} -o ${library}
    DEPENDS ${objects} COMMENT "Linking lib${name}.so" VERBATIM)
  add_custom_target(${name} ALL DEPENDS ${library})
  # `start` builds the command alone: what is not there is not installed.
  install(FILES ${library} DESTINATION ${CMAKE_INSTALL_LIBDIR}/volvox OPTIONAL)
endfunction()
