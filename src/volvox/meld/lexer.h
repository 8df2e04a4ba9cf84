// Words and signs of a program.
// Pure: the tokens are copies. Any thread.
#pragma once

#include "volvox/meld/syntax.h"

namespace volvox::meld {

struct Token {
  enum class Kind : std::uint8_t { name, variable, integer, real, text, file, delay, sign, end };
  Kind kind = Kind::end;
  Place place;
  std::string text;          // of a sign: itself
  std::int64_t integer = 0;  // of a delay: ms
  double real = 0;
};

// The tokens of one file, the last is `end`. `source` names the file in errors.
Result<std::vector<Token>> tokens_of(const std::string& text, std::uint32_t file, const Source& source);

}  // namespace volvox::meld
