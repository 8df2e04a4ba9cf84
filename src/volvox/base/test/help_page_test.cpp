#include "volvox/base/help_page.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace volvox {
namespace {

std::string page_of(const std::string& file, const std::string& what, const std::string& fix = "") {
  return help_page(Diagnostic{file, 1, what, fix});
}

TEST(HelpPage, IsThatOfTheElementTheFileOrTheSubject) {
  EXPECT_EQ(page_of("a.sdf", "<volvox:dock> has no link", "name one"), "reference/sdf#dock");
  EXPECT_EQ(page_of("a.sdf", "the mass is zero"), "formats");
  EXPECT_EQ(page_of("my.meld", "a rule without a head"), "meld");
  EXPECT_EQ(page_of("libnod.so", "it was built for another version"), "plugins");
  EXPECT_EQ(page_of("", "there is no engine 'natve'", "did you mean native?"), "concepts#engine");
  EXPECT_EQ(page_of("", "volvox bench has no option '--quiet'", "it is one of volvox evolve"), "reference/commands");
  EXPECT_EQ(page_of("", "this cannot be run here", "see docs/meld.md for what can"), "meld");
}

TEST(HelpPage, IsMissingWhereNoneHelps) {
  EXPECT_EQ(page_of("", "the disk is full"), "");
  EXPECT_EQ(page_of("", "it is not there", "build it: docs/build"), "");
  Error both("the disk is full", "make room");
  both.add({"a.sdf", 3, "the mass is zero", ""});
  EXPECT_EQ(help_page(both), "formats");
}

// Pages without a folder are those of docs/; the others are generated, and looked for by docs/build --test.
TEST(HelpPage, EveryPageIsThere) {
  const std::filesystem::path docs = std::filesystem::path(__FILE__).parent_path() / "../../../../docs";
  ASSERT_TRUE(std::filesystem::is_directory(docs));
  EXPECT_GT(help_pages().size(), 15u);
  for (const std::string& place : help_pages()) {
    const std::string page = place.substr(0, place.find('#'));
    if (!page.starts_with("reference/")) {
      EXPECT_TRUE(std::filesystem::is_regular_file(docs / (page + ".md"))) << page;
    }
  }
}

}  // namespace
}  // namespace volvox
