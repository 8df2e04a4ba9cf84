// Tables for human readers: the first row is the heading; numbers are right-aligned.
// No state; any thread may call them. The same rows give the same bytes.
#pragma once

#include <string>
#include <vector>

namespace volvox::report {

using Rows = std::vector<std::vector<std::string>>;

// A number for people: counts with all their digits, others with `digits` of them; "-" if it is not finite.
std::string number(double value, int digits = 4);

std::string text_table(const Rows& rows);      // columns padded to their widest cell; for a terminal, see printable()
std::string markdown_table(const Rows& rows);  // in GitHub's syntax
std::string html_table(const Rows& rows);      // an empty heading: none

}  // namespace volvox::report
