# Flags that every target of ours shares.
add_library(volvox_flags INTERFACE)
target_compile_options(volvox_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  # False alarms of GCC 12 inside std::string and std::vector.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds>
  # The same bits on every x86-64 machine: no contraction to FMA, no reassociation.
  -ffp-contract=off -fno-math-errno
  $<$<BOOL:${VOLVOX_WERROR}>:-Werror>)
if(VOLVOX_SANITIZE)
  target_compile_options(volvox_flags INTERFACE -fsanitize=${VOLVOX_SANITIZE} -fno-omit-frame-pointer -g1)
  target_link_options(volvox_flags INTERFACE -fsanitize=${VOLVOX_SANITIZE})
endif()

# volvox_module(NAME SOURCES ... [DEPENDS modules] [LIBRARIES private] [TESTS sources])
# One folder, one namespace, one target: volvox_NAME, with its tests beside it.
function(volvox_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;LIBRARIES;TESTS" ${ARGN})
  add_library(volvox_${name} STATIC ${arg_SOURCES})
  target_include_directories(volvox_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  list(TRANSFORM arg_DEPENDS PREPEND volvox_ OUTPUT_VARIABLE depends)
  target_link_libraries(volvox_${name}
    PUBLIC ${depends} fmt::fmt Threads::Threads
    PRIVATE $<BUILD_INTERFACE:volvox_flags> ${arg_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY VOLVOX_MODULES volvox_${name})
  set_property(GLOBAL APPEND PROPERTY VOLVOX_LIBRARIES ${arg_LIBRARIES})
  if(VOLVOX_TESTS AND arg_TESTS)
    volvox_test(${name}_test SOURCES ${arg_TESTS} LIBRARIES volvox_${name} ${arg_LIBRARIES})
  endif()
endfunction()

# volvox_test(NAME SOURCES ... LIBRARIES ...): a GoogleTest binary, each case known to ctest.
# Cases run from the source tree, so that they find robots/ and experiments/.
function(volvox_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} volvox_flags GTest::gtest GTest::gtest_main)
  # One ctest entry a binary: starting a process a case would cost more than most cases do.
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 600)
endfunction()
