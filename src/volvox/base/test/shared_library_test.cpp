#include "volvox/base/platform/shared_library.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

namespace volvox::platform {
namespace {

namespace fs = std::filesystem;

// A shared library that every C++ program has. Not the C++ library: a second copy of that allocates 72,704 bytes for
// exceptions when it is loaded, and never frees them.
std::string some_library() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (const auto at = line.find('/'); at != std::string::npos && line.find("libgcc_s") != std::string::npos)
      return line.substr(at);
  return {};
}

TEST(SharedLibrary, AHalfCopiedOneIsRefused) {
  const std::string name = some_library();
  if (name.empty()) GTEST_SKIP() << "the compiler's library is linked in";
  std::ifstream file(name, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), {});
  const fs::path copy = fs::path(testing::TempDir()) / ("libhalf" + std::to_string(getpid()) + ".so");
  const auto opens = [&](const std::string& bytes) {
    fs::remove(copy);  // one that is in use must not be overwritten
    std::ofstream(copy, std::ios::binary) << bytes;
    const auto library = SharedLibrary::open(copy);
    if (!library.ok()) {
      EXPECT_NE(library.error().text().find("copy it again"), std::string::npos) << library.error().text();
    }
    return library.ok();
  };
  EXPECT_TRUE(opens(whole));
  for (int part = 0; part < 20; ++part) EXPECT_FALSE(opens(whole.substr(0, whole.size() * part / 20))) << part;
  EXPECT_FALSE(opens(whole.substr(0, whole.size() - 1)));
  // The space was reserved before the bytes were copied.
  EXPECT_FALSE(opens(whole.substr(0, whole.size() / 2) + std::string(whole.size() - whole.size() / 2, '\0')));
  fs::remove(copy);
}

TEST(SharedLibrary, WhatIsNoFileIsRefused) {
  const fs::path pipe = fs::path(testing::TempDir()) / ("libpipe" + std::to_string(getpid()) + ".so");
  fs::remove(pipe);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_FALSE(SharedLibrary::open(pipe).ok());
  fs::remove(pipe);
  EXPECT_FALSE(SharedLibrary::open(testing::TempDir()).ok());
  EXPECT_FALSE(SharedLibrary::open("/there/is/no/such.so").ok());
}

TEST(SharedLibrary, AnOptionalOneMayBeMissingButNotBroken) {
  const auto missing = open_optional_library("VOLVOX_NO_SUCH_VARIABLE", "libvolvox_no_such.so");
  ASSERT_TRUE(missing.ok());
  EXPECT_EQ(missing->library, nullptr);
  EXPECT_NE(missing->looked.find("volvox/libvolvox_no_such.so"), std::string::npos) << missing->looked;

  const fs::path broken = fs::path(testing::TempDir()) / ("libbroken" + std::to_string(getpid()) + ".so");
  std::ofstream(broken) << "no library";
  ASSERT_EQ(setenv("VOLVOX_TEST_LIBRARY", broken.c_str(), 1), 0);
  EXPECT_FALSE(open_optional_library("VOLVOX_TEST_LIBRARY", "libvolvox_no_such.so").ok());
  if (const std::string name = some_library(); !name.empty()) {
    ASSERT_EQ(setenv("VOLVOX_TEST_LIBRARY", name.c_str(), 1), 0);
    const auto good = open_optional_library("VOLVOX_TEST_LIBRARY", "libvolvox_no_such.so");
    ASSERT_TRUE(good.ok());
    EXPECT_NE(good->library, nullptr);
    EXPECT_EQ(good->file, name);
  }
  unsetenv("VOLVOX_TEST_LIBRARY");
  fs::remove(broken);
}

}  // namespace
}  // namespace volvox::platform
