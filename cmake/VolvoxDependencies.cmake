# Every library comes from Debian; packages.txt says why each is needed.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(sdformat12 REQUIRED)
find_package(console_bridge REQUIRED)  # on which the URDF parser within sdformat prints
find_package(tinyxml2 REQUIRED)
find_package(assimp REQUIRED)
find_package(embree 3 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(PkgConfig REQUIRED)
# Bullet in double precision: docking must keep momentum to 1e-6 (docs/decisions/0003).
pkg_check_modules(BULLET REQUIRED IMPORTED_TARGET bullet-float64)
# Chunks of recordings.
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(STB REQUIRED IMPORTED_TARGET stb)
# The engines 'ode' and 'mujoco' are there where their libraries are.
pkg_check_modules(ODE IMPORTED_TARGET ode)
find_package(mujoco QUIET)
if(TARGET mujoco::mujoco)
  # Debian's target names a folder of headers of another package, which its own do not need.
  set_target_properties(mujoco::mujoco PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "")
endif()
if(VOLVOX_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()
