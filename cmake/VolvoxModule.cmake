# Flags that every target of ours shares.
add_library(volvox_flags INTERFACE)
target_compile_options(volvox_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  # False alarms of GCC 12 inside std::string and std::vector.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds>
  # The same bits on every x86-64 machine: no contraction to FMA, no reassociation.
  -ffp-contract=off -fno-math-errno
  $<$<BOOL:${VOLVOX_WERROR}>:-Werror>)
target_compile_definitions(volvox_flags INTERFACE $<$<BOOL:${VOLVOX_ASSERTS}>:VOLVOX_ASSERTS>)
# Builds that are made once (CMAKE_UNITY_BUILD, as in the presets asan and tsan) compile up to eight files of a target as
# one: what headers bring is compiled once for all, in half the time. What files keep to themselves must then have
# another name in each; GCC's warning of that is about headers.
if(CMAKE_UNITY_BUILD)
  target_compile_options(volvox_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()
if(VOLVOX_SANITIZE)
  target_compile_options(volvox_flags INTERFACE -fsanitize=${VOLVOX_SANITIZE} -fno-omit-frame-pointer -g1)
  if(VOLVOX_SANITIZE MATCHES undefined)
    # A check of every pointer that is followed would double the time to compile, and the address sanitizer sees most of
    # what it would. What the other checks find ends the test.
    target_compile_options(volvox_flags INTERFACE -fno-sanitize=null,alignment,vptr,object-size
      -fno-sanitize=nonnull-attribute,returns-nonnull-attribute -fno-sanitize-recover=all)
  endif()
  target_link_options(volvox_flags INTERFACE -fsanitize=${VOLVOX_SANITIZE})
endif()
# For the fuzz targets alone: other programs do not link then, because tests/fuzz/engine.cpp has what the code calls.
option(VOLVOX_FUZZ_GUIDED "Code tells the fuzz targets which way it goes" OFF)
if(VOLVOX_FUZZ_GUIDED)
  target_compile_options(volvox_flags INTERFACE
    $<IF:$<CXX_COMPILER_ID:GNU>,-fsanitize-coverage=trace-pc$<COMMA>trace-cmp,-fsanitize=fuzzer-no-link>)
endif()

# Code that is not in inner loops gains nothing from -O3, CMake's choice, and takes a third longer to compile. Modules say
# what they want otherwise: OPTIMIZATION 3 for what computes, 1 for what runs once in a command. The bits are the same.
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
# Optimizing the code of tests costs more time than it saves. The libraries that they test are the ones that people run.
set(test_optimization $<$<CONFIG:Release>:-O1>)

# Headers that nearly every file includes are parsed once: they were most of what a build took. `base` for the lower
# layers, `sim` for what stands on worlds and minds, `json` for the command and the viewer's server; tests are programs,
# which GCC compiles with another flag, so they have their own. What a header's inline functions use is still compiled in
# every file: CLI11 took 5 s of each, so only the files with options include it. Files include what they use: the preset
# `dev` builds without this, and would tell.
function(volvox_precompiled name)
  file(WRITE ${PROJECT_BINARY_DIR}/precompiled/empty.cpp "")
  file(WRITE ${PROJECT_BINARY_DIR}/precompiled/main.cpp "int main() {}\n")
  add_library(volvox_precompiled_${name} OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/precompiled/empty.cpp)
  target_precompile_headers(volvox_precompiled_${name} PRIVATE ${ARGN})
  set(targets volvox_precompiled_${name})
  if(VOLVOX_TESTS)
    add_executable(volvox_precompiled_${name}_tests EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/precompiled/main.cpp)
    target_precompile_headers(volvox_precompiled_${name}_tests PRIVATE ${ARGN} <gtest/gtest.h>)
    target_link_libraries(volvox_precompiled_${name}_tests PRIVATE GTest::gtest)
    target_compile_options(volvox_precompiled_${name}_tests PRIVATE ${test_optimization})
    list(APPEND targets volvox_precompiled_${name}_tests)
  endif()
  foreach(target ${targets})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${target} PRIVATE volvox_flags fmt::fmt Threads::Threads)
    set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
  endforeach()
endfunction()
set(base_headers <algorithm> <array> <cmath> <cstdint> <filesystem> <fstream> <functional> <map> <memory> <optional>
  <set> <span> <string> <vector> <fmt/format.h>)
foreach(header archive log math registry result thread_pool type)
  list(APPEND base_headers <volvox/base/${header}.h>)
endforeach()
volvox_precompiled(base ${base_headers})
volvox_precompiled(sim ${base_headers} <volvox/sim/experiment.h>)
volvox_precompiled(json ${base_headers} <volvox/sim/experiment.h> <nlohmann/json.hpp>)

# volvox_module(NAME SOURCES ... [DEPENDS modules] [LIBRARIES private] [TESTS sources] [PRECOMPILED base|sim|json|headers]
#               [OPTIMIZATION 1|3])
# One folder, one namespace, one target: volvox_NAME, with its tests beside it.
function(volvox_module name)
  cmake_parse_arguments(arg "" "OPTIMIZATION" "SOURCES;DEPENDS;LIBRARIES;TESTS;PRECOMPILED" ${ARGN})
  add_library(volvox_${name} STATIC ${arg_SOURCES})
  target_include_directories(volvox_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  list(TRANSFORM arg_DEPENDS PREPEND volvox_ OUTPUT_VARIABLE depends)
  target_link_libraries(volvox_${name}
    PUBLIC ${depends} fmt::fmt Threads::Threads
    PRIVATE $<BUILD_INTERFACE:volvox_flags> ${arg_LIBRARIES})
  if(arg_OPTIMIZATION)
    target_compile_options(volvox_${name} PRIVATE $<$<CONFIG:Release>:-O${arg_OPTIMIZATION}>)
  endif()
  set_property(GLOBAL APPEND PROPERTY VOLVOX_MODULES volvox_${name})
  set_property(GLOBAL APPEND PROPERTY VOLVOX_LIBRARIES ${arg_LIBRARIES})
  volvox_precompile(volvox_${name} base ${arg_PRECOMPILED})
  if(VOLVOX_TESTS AND arg_TESTS)
    volvox_test(${name}_test SOURCES ${arg_TESTS} LIBRARIES volvox_${name} ${arg_LIBRARIES} PRECOMPILED ${arg_PRECOMPILED})
  endif()
endfunction()

# volvox_precompile(TARGET SET... [headers]): the last of the sets; further headers on top of them are the target's own.
function(volvox_precompile target)
  set(which base)
  set(headers)
  foreach(word ${ARGN})
    if(word MATCHES "^(base|sim|json)$")
      set(which ${word})
    else()
      list(APPEND headers ${word})
    endif()
  endforeach()
  get_target_property(type ${target} TYPE)
  if(headers)
    get_target_property(shared volvox_precompiled_${which} PRECOMPILE_HEADERS)
    target_precompile_headers(${target} PRIVATE ${shared} ${headers})
  elseif(type STREQUAL EXECUTABLE)
    target_precompile_headers(${target} REUSE_FROM volvox_precompiled_${which}_tests)
  else()
    target_precompile_headers(${target} REUSE_FROM volvox_precompiled_${which})
  endif()
endfunction()

# volvox_test(NAME SOURCES ... LIBRARIES ...): a GoogleTest binary, which runs from the source tree,
# so that it finds robots/ and experiments/. The target `unit_tests` builds all of them, and ctest knows them by the label
# `unit`.
add_custom_target(unit_tests)
function(volvox_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES;LABELS;PRECOMPILED" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  list(FILTER arg_PRECOMPILED INCLUDE REGEX "^(base|sim|json)$")
  volvox_precompile(${name} base ${arg_PRECOMPILED})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} volvox_flags GTest::gtest GTest::gtest_main)
  target_compile_options(${name} PRIVATE ${test_optimization})
  # One ctest entry a binary: starting a process a case would cost more than most cases do.
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set(timeout 600)
  if(VOLVOX_SANITIZE)
    set(timeout 3000)  # sanitizers take up to ten times as long, on a busy machine more
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "unit;${arg_LABELS}" TIMEOUT ${timeout})
  add_dependencies(unit_tests ${name})
endfunction()
