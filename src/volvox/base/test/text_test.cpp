#include "volvox/base/text.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "volvox/base/csv.h"
#include "volvox/base/index.h"
#include "volvox/base/json_text.h"
#include "volvox/base/letters.h"
#include "volvox/base/parse.h"
#include "volvox/base/test/temporary_folder.h"
#include "volvox/base/type.h"

namespace volvox {
namespace {

TEST(Csv, QuotesWhatMustBeQuotedAndKeepsEveryDigit) {
  Csv csv({"name", "value"});
  csv.row("a,b", 0.1);
  csv.row("say \"hi\"", 3);
  csv.row(std::string("two\nlines"), Csv::fixed(2.0 / 3, 3));
  EXPECT_EQ(csv.text(), "name,value\n\"a,b\",0.1\n\"say \"\"hi\"\"\",3\n\"two\nlines\",0.667\n");
}

TEST(Csv, RowsGrowFieldByFieldAndAreTakenAway) {
  Csv csv(std::vector<std::string>{"t", "x"});
  EXPECT_EQ(csv.take(), "t,x\n");
  for (const int x : {1, 2}) csv.field(x);
  csv.end_row();
  csv.row("", true);
  EXPECT_EQ(csv.take(), "1,2\n,true\n");
  EXPECT_EQ(csv.text(), "");
}

TEST(Text, PrintsNothingThatATerminalObeys) {
  for (const char* text : {"", "plain", "two\nlines\tand a tab", "größer 1 µm → 漢 🤖", "~ \x20"})
    EXPECT_EQ(printable(text), text);
  EXPECT_EQ(printable("\x1b]0;title\x07\x1b[2J\r\b\x7f"), "\\x1b]0;title\\x07\\x1b[2J\\x0d\\x08\\x7f");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\x9b"
                      "31m \xc2\x9b"
                      "31m"),
            "\\x9b31m \\xc2\\x9b31m");                                          // C1: a bare byte, and U+009B
  EXPECT_EQ(printable("\xe2\x80\xae evil"), "\\xe2\\x80\\xae evil");            // right to left
  EXPECT_EQ(printable("\xc0\x9b \xe0\x82\x9b"), "\\xc0\\x9b \\xe0\\x82\\x9b");  // overlong U+001B, U+009B
  EXPECT_EQ(printable("\xff\xfe \xed\xa0\x80 \xf5"), "\\xff\\xfe \\xed\\xa0\\x80 \\xf5");  // not UTF-8
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");                                          // cut off
}

TEST(Text, EscapesWhatXmlReads) {
  EXPECT_EQ(xml_escaped("<a href=\"x\">'&'"), "&lt;a href=&quot;x&quot;&gt;&apos;&amp;&apos;");
}

TEST(Text, BytesThatAreNotUtf8BecomeReplacementCharacters) {
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(valid_utf8("plain \xC3\xA4\xE2\x82\xAC\xF0\x9F\x90\x8D\x7f"),
            "plain \xC3\xA4\xE2\x82\xAC\xF0\x9F\x90\x8D\x7f");
  EXPECT_EQ(valid_utf8("a\xFF"
                       "b\x80"),
            "a" + bad + "b" + bad);
  EXPECT_EQ(valid_utf8("\xC3"), bad) << "cut off";
  EXPECT_EQ(valid_utf8("\xC0\xAF"), bad + bad) << "longer than necessary";
  EXPECT_EQ(valid_utf8("\xE0\x80\x80"), bad + bad + bad);
  EXPECT_EQ(valid_utf8("\xED\xA0\x80"), bad + bad + bad) << "half of a pair";
  EXPECT_EQ(valid_utf8("\xF4\x90\x80\x80"), bad + bad + bad + bad) << "beyond the last character";
  EXPECT_EQ(xml_escaped("<\xFF\x01\n"), "&lt;" + bad + bad + "\n");
  // All pairs of bytes: what comes out is read by JSON, and stays as it is.
  for (int a = 0; a < 256; ++a)
    for (int b = 0; b < 256; ++b) {
      const std::string text = {static_cast<char>(a), static_cast<char>(b), 'x'};
      const std::string valid = valid_utf8(text);
      EXPECT_EQ(valid_utf8(valid), valid);
      EXPECT_NO_THROW((void)nlohmann::json(valid).dump()) << a << " " << b;
      EXPECT_TRUE(nlohmann::json::accept(to_json_text(nlohmann::json(text))));
      std::string shown;
      detail::describe_text(shown, text);
      EXPECT_TRUE(nlohmann::json::accept(shown)) << shown;
    }
}

TEST(Csv, IsUtf8) {
  Csv csv({"name"});
  csv.row("a\xFF,");
  EXPECT_EQ(csv.text(), "name\n\"a\xEF\xBF\xBD,\"\n");
}

// What was there before stays until all of the new content is on the disk.
TEST(Text, AFileIsReplacedAsAWholeOrNotAtAll) {
  const TemporaryFolder made;
  const std::filesystem::path& folder = made.path();
  const std::filesystem::path file = folder / "a.txt";
  ASSERT_TRUE(write_file(file, "old").ok());
  std::filesystem::create_directory(folder / "sub");
  EXPECT_FALSE(write_file(folder / "sub" / "", "new").ok());
  ASSERT_TRUE(write_file(file, "new").ok());
  std::ifstream in(file);
  std::string text;
  std::getline(in, text);
  EXPECT_EQ(text, "new");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 2) << "no part is left beside it";
  EXPECT_TRUE(can_write_file(file));
  EXPECT_TRUE(can_write_file(folder / "b.txt"));
  EXPECT_FALSE(can_write_file(folder / "nowhere" / "b.txt"));
  EXPECT_FALSE(can_write_file(folder));
  EXPECT_FALSE(can_write_file(folder / "new" / ""));
  EXPECT_FALSE(can_write_file(""));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 2) << "asking changes nothing";
  EXPECT_TRUE(can_write_file("/dev/null"));
  EXPECT_TRUE(write_file("/dev/null", "x").ok());
  EXPECT_FALSE(write_file("/dev/full", "x").ok());
}

TEST(Text, APipeIsWrittenIfSomebodyReadsIt) {
  const TemporaryFolder folder;
  const auto pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(can_write_file(pipe));
  const auto refused = write_file(pipe, "lost");
  ASSERT_FALSE(refused.ok()) << "and it does not wait for ever";
  EXPECT_NE(refused.error().text().find("nobody reads this pipe"), std::string::npos) << refused.error().text();
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  EXPECT_TRUE(write_file(pipe, "kept").ok());
  char bytes[16] = {};
  EXPECT_EQ(read(reader, bytes, sizeof bytes), 4);
  EXPECT_EQ(std::string(bytes), "kept");
  close(reader);
}

// A pipe that nobody writes to would be waited for without end.
TEST(Text, OnlyFilesAreRead) {
  const TemporaryFolder made;
  const std::filesystem::path file = made.path() / "a", pipe = made.path() / "pipe";
  ASSERT_TRUE(write_file(file, std::string_view("a\0b\xFF", 4)).ok());
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(*read_file(file), std::string("a\0b\xFF", 4));
  EXPECT_NE(read_file(file, 3).error().text().find("has 4 bytes, and at most 3 are read"), std::string::npos);
  for (const auto& bad : {pipe, made.path(), std::filesystem::path("/dev/zero")})
    EXPECT_NE(read_file(bad).error().text().find("this is not a file"), std::string::npos) << bad;
  EXPECT_NE(read_file(made.path() / "b").error().text().find("there is no such file"), std::string::npos);
}

TEST(Letters, AreThoseOfAsciiInEveryLocale) {
  int digits = 0, letters = 0, both = 0;
  for (int i = 0; i < 256; ++i) {
    const char c = std::bit_cast<char>(narrow<unsigned char>(i));
    EXPECT_EQ(byte_value(c), i);
    digits += is_digit(c), letters += is_letter(c), both += is_letter_or_digit(c);
    EXPECT_EQ(small_letter(c), is_capital(c) ? c + 32 : c);
  }
  EXPECT_EQ(digits, 10);
  EXPECT_EQ(letters, 52);
  EXPECT_EQ(both, 62);
}

TEST(Text, AFileThatCannotBeWrittenIsNamed) {
  const auto written = write_file("/proc/nowhere/file", "text");
  ASSERT_FALSE(written.ok());
  EXPECT_NE(written.error().text().find("/proc/nowhere/file"), std::string::npos);
}

TEST(Parse, ANumberIsTheWholeText) {
  EXPECT_EQ(to_number<double>("1e3"), 1000);
  EXPECT_EQ(to_number<int>("-7"), -7);
  for (const char* no : {"", " 1", "1 ", "+1", "1m", "0x10", "1,5"})
    EXPECT_EQ(to_number<double>(no), std::nullopt) << no;
  EXPECT_EQ(to_number<std::uint64_t>("-1"), std::nullopt);
  EXPECT_EQ(to_number<int>("3000000000"), std::nullopt);
}

}  // namespace
}  // namespace volvox
