#include "volvox/base/time.h"

#include <cmath>
#include <numeric>

#include "volvox/base/index.h"
#include "volvox/base/parse.h"

namespace volvox {
namespace {

template <class Number>
bool read_all(std::string_view text, Number& number) {
  const auto read = to_number<Number>(text);
  if (read) number = *read;
  return read.has_value();
}

}  // namespace

Result<TickLength> TickLength::parse(std::string_view text) {
  const Error bad("'" + std::string(text) + "' is not a tick length",
                  "give seconds as a fraction or a decimal, between 1 ns and 1 hour, such as --dt 1/60 or --dt 0.01");
  TickLength dt;
  if (const auto slash = text.find('/'); slash != std::string_view::npos) {
    if (!read_all(text.substr(0, slash), dt.numerator) || !read_all(text.substr(slash + 1), dt.denominator)) return bad;
  } else {
    double seconds = 0;
    if (!read_all(text, seconds) || !std::isfinite(seconds) || seconds > 3600) return bad;
    dt = {std::llround(seconds * 1e9), 1'000'000'000};
  }
  if (dt.numerator <= 0 || dt.denominator <= 0) return bad;
  const std::int64_t divisor = std::gcd(dt.numerator, dt.denominator);
  dt.numerator /= divisor;
  dt.denominator /= divisor;
  if (dt.denominator > 1'000'000'000 || dt.seconds() > 3600 || dt.seconds() < 1e-9) return bad;
  return dt;
}

std::string TickLength::text() const {
  return denominator == 1 ? std::to_string(numerator) : std::to_string(numerator) + "/" + std::to_string(denominator);
}

std::int64_t TickLength::ticks_in(Time duration) const {
  if (duration.ns <= 0) return 0;
  const long double ns = duration.ns, over = denominator, under = numerator;
  std::int64_t tick = truncated<std::int64_t>(ns * over / (under * 1e9L));
  while (tick > 0 && start_of(tick) >= duration) --tick;
  while (start_of(tick) < duration) ++tick;
  return tick;
}

}  // namespace volvox
