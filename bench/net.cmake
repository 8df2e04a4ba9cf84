# The benchmark of the network, and ns-3 for comparison if it is installed (libns3-dev, libgsl-dev).
add_executable(net_bench ${CMAKE_CURRENT_LIST_DIR}/net_bench.cpp)
target_link_libraries(net_bench PRIVATE volvox_net volvox_flags)

find_path(NS3_INCLUDE ns3/lr-wpan-module.h)
find_library(NS3_LR_WPAN ns3-lr-wpan)
if(NS3_INCLUDE AND NS3_LR_WPAN)
  add_executable(ns3_flood ${CMAKE_CURRENT_LIST_DIR}/ns3_flood.cpp)
  set_target_properties(ns3_flood PROPERTIES CXX_STANDARD 17)  # its headers are not C++20
  target_include_directories(ns3_flood SYSTEM PRIVATE ${NS3_INCLUDE})
  foreach(part lr-wpan spectrum antenna propagation mobility stats network core)
    find_library(NS3_${part} ns3-${part} REQUIRED)
    target_link_libraries(ns3_flood PRIVATE ${NS3_${part}})
  endforeach()
else()
  message(STATUS "ns-3 is not installed: net_bench runs without its peer")
endif()
