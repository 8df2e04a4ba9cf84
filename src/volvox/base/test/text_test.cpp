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
