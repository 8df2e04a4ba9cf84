// Tables for human readers: the first row is the heading; numbers are right-aligned.
#pragma once

#include <string>
#include <vector>

namespace volvox::report {

using Rows = std::vector<std::vector<std::string>>;

std::string text_table(const Rows& rows);      // columns padded to their widest cell; for a terminal, see printable()
std::string markdown_table(const Rows& rows);  // in GitHub's syntax
std::string html_table(const Rows& rows);      // an empty heading: none

}  // namespace volvox::report
