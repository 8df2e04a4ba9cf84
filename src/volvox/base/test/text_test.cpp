#include "volvox/base/text.h"

#include <gtest/gtest.h>

#include "volvox/base/csv.h"

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

TEST(Text, AFileThatCannotBeWrittenIsNamed) {
  const auto written = write_file("/proc/nowhere/file", "text");
  ASSERT_FALSE(written.ok());
  EXPECT_NE(written.error().text().find("/proc/nowhere/file"), std::string::npos);
}

}  // namespace
}  // namespace volvox
