# One fuzz target for each scan reader. Here mutate.cpp runs them for a short time; with Clang, build scan_reader.cpp with
# -fsanitize=fuzzer instead and give it tests/fuzz/seeds.
foreach(reader pcd ply off stl xyz carmen)
  add_executable(fuzz_${reader} ${CMAKE_CURRENT_LIST_DIR}/scan_reader.cpp ${CMAKE_CURRENT_LIST_DIR}/mutate.cpp)
  target_compile_definitions(fuzz_${reader} PRIVATE VOLVOX_FUZZ_READER=parse_${reader})
  target_link_libraries(fuzz_${reader} PRIVATE volvox_scan volvox_flags)
  file(GLOB seeds ${CMAKE_CURRENT_LIST_DIR}/seeds/*.${reader})
  if(reader STREQUAL carmen)
    set(seeds ${CMAKE_CURRENT_LIST_DIR}/seeds/drive.log)
  endif()
  add_test(NAME fuzz_${reader} COMMAND fuzz_${reader} 20000 ${seeds})
endforeach()
