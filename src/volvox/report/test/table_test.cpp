#include "volvox/report/table.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "volvox/base/text.h"
#include "volvox/report/run_report.h"

namespace volvox::report {
namespace {

const Rows rows = {{"metric", "value", "note"}, {"lift_m", "0.25", "a < b"}, {"docks", "12", ""}};

TEST(Table, ColumnsOfNumbersStandAtTheRight) {
  EXPECT_EQ(text_table(rows), "  metric  value  note\n  lift_m   0.25  a < b\n  docks      12\n");
}

TEST(Table, IsMarkdown) {
  EXPECT_EQ(markdown_table(rows),
            "| metric | value | note |\n|---|---|---|\n| lift_m | 0.25 | a < b |\n| docks | 12 | |\n");
}

TEST(Table, IsHtml) {
  EXPECT_EQ(html_table(rows),
            "<table><thead><tr><th>metric</th><th>value</th><th>note</th></tr></thead><tbody>\n"
            "<tr><td>lift_m</td><td class=\"number\">0.25</td><td>a &lt; b</td></tr>\n"
            "<tr><td>docks</td><td class=\"number\">12</td><td></td></tr>\n</tbody></table>\n");
}

// Pictures of the folder are taken in, and nothing is asked of a network.
TEST(RunReport, IsAPageThatNeedsNothingElse) {
  const std::filesystem::path folder = testing::TempDir() + "/run_report_test";
  std::filesystem::create_directories(folder);
  ASSERT_TRUE(write_file(folder / "a.png", "\x89PNG").ok());
  ASSERT_TRUE(write_file(folder / "curve.svg", "<svg/>").ok());
  sim::RunReport report;
  report.experiment = "a <run>";
  report.status = "done";
  report.metrics.set("docks_engaged", 2);
  report.history.resize(2);
  report.history[1].time = 1;
  report.history[1].centre_of_mass = {1, 2, 3};
  const std::string page = report_html(report, folder);
  for (const char* part : {"<h1>a &lt;run&gt;</h1>", "<td>docks_engaged</td><td class=\"number\">2</td>", "<polyline",
                           "data:image/png;base64,iVBORw==", "data:image/svg+xml;base64,PHN2Zy8+", "</html>"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  for (const char* part : {"http:", "https:", "src=\"/", "<script", "Kinetic energy"})
    EXPECT_EQ(page.find(part), std::string::npos) << part;
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace volvox::report
