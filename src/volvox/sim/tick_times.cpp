#include "volvox/sim/tick_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace volvox::sim {
namespace {

constexpr unsigned digits = 7;  // bits of a time that its bucket tells apart
constexpr std::size_t bucket_count = (64 - digits) << digits;

std::string escape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else out += c;
  }
  return out;
}

}  // namespace

TimeDistribution::TimeDistribution() : buckets_(bucket_count) {}

// Times below 2^8 ns have a bucket each; from there on every octave has 2^7 of them.
std::size_t TimeDistribution::bucket_of(std::int64_t ns) {
  const auto time = static_cast<std::uint64_t>(ns);
  const unsigned width = static_cast<unsigned>(std::bit_width(time));
  const unsigned octave = width > digits + 1 ? width - digits - 1 : 0;
  return (static_cast<std::size_t>(octave) << digits) + static_cast<std::size_t>(time >> octave);
}

double TimeDistribution::middle_of(std::size_t bucket) const {
  double middle = static_cast<double>(bucket);
  if (bucket >= std::size_t{2} << digits) {
    const std::size_t octave = (bucket >> digits) - 1;
    middle = std::ldexp(static_cast<double>(bucket - (octave << digits)) + 0.5, static_cast<int>(octave));
  }
  return std::clamp(middle, static_cast<double>(shortest_), static_cast<double>(longest_)) * 1e-9;
}

void TimeDistribution::add(std::int64_t ns) {
  ns = std::max<std::int64_t>(ns, 0);
  shortest_ = count_ == 0 ? ns : std::min(shortest_, ns);
  longest_ = std::max(longest_, ns);
  sum_ += static_cast<double>(ns) * 1e-9;
  ++count_;
  ++buckets_[bucket_of(ns)];
}

double TimeDistribution::mean() const { return count_ > 0 ? sum_ / static_cast<double>(count_) : 0; }
double TimeDistribution::shortest() const { return static_cast<double>(shortest_) * 1e-9; }
double TimeDistribution::longest() const { return static_cast<double>(longest_) * 1e-9; }

double TimeDistribution::quantile(double part) const {
  if (count_ == 0) return 0;
  const auto rank = static_cast<std::int64_t>(std::ceil(std::clamp(part, 0.0, 1.0) * static_cast<double>(count_)));
  if (rank >= count_) return longest();
  std::int64_t below = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i)
    if ((below += buckets_[i]) >= std::max<std::int64_t>(rank, 1)) return middle_of(i);
  return longest();
}

Box TimeDistribution::box(std::string label) const {
  Box box{std::move(label), 0, quantile(0.25), quantile(0.5), quantile(0.75), 0, {}};
  const double reach = 1.5 * (box.q3 - box.q1);
  box.low = box.q1, box.high = box.q3;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    if (buckets_[i] == 0) continue;
    const double time = middle_of(i);
    if (time < box.q1 - reach || time > box.q3 + reach) box.outliers.push_back(time);
    else box.low = std::min(box.low, time), box.high = std::max(box.high, time);
  }
  return box;
}

std::string box_plot(const std::string& title, const std::string& below, const std::vector<Box>& boxes,
                     const std::vector<Mark>& marks) {
  constexpr double height = 300, left = 62, right = 20, top = 34, bottom = 46;
  const double step = std::clamp(560.0 / static_cast<double>(std::max<std::size_t>(boxes.size(), 1)), 34.0, 130.0);
  const double width = left + right + std::max(step * static_cast<double>(boxes.size()), 360.0);
  double low = 1e300, high = 0;
  const auto include = [&](double seconds) {
    if (seconds > 0) low = std::min(low, seconds), high = std::max(high, seconds);
  };
  for (const Box& box : boxes) {
    for (const double v : {box.low, box.high}) include(v);
    for (const double v : box.outliers) include(v);
  }
  for (const Mark& mark : marks) include(mark.value);
  if (!(high > 0)) low = 1e-4, high = 1e-3;
  // Whole powers of ten, so that the axis can be read off.
  const double bottom_power = std::floor(std::log10(low) + 1e-9),
               top_power = std::max(std::ceil(std::log10(high) - 1e-9), bottom_power + 1);
  const auto y = [&](double seconds) {
    const double part = (std::log10(std::max(seconds, 1e-12)) - bottom_power) / (top_power - bottom_power);
    return height - bottom - std::clamp(part, 0.0, 1.0) * (height - top - bottom);
  };
  std::string svg = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:.0f} {1:.0f}" width="{0:.0f}" height="{1:.0f}" role="img" aria-label="{2}" font-family="system-ui, sans-serif" font-size="11" fill="#5b6775"><rect width="100%" height="100%" fill="#fff"/><text x="{3}" y="18" font-size="12.5" font-weight="600" fill="#1d2530">{2}</text>)",
      width, height, escape(title), left);
  for (double power = bottom_power; power <= top_power; ++power) {
    const double at = y(std::pow(10, power));
    svg += fmt::format(
        R"(<line x1="{}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="#e3e8ee"/><text x="{}" y="{:.1f}" text-anchor="end">{:g} ms</text>)",
        left, at, width - right, at, left - 6, at + 3.5, std::pow(10, power + 3));
  }
  for (const Mark& mark : marks)
    svg += fmt::format(
        R"(<line x1="{}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="#2b8a3e" stroke-width="1.5" stroke-dasharray="6 4"/><text x="{}" y="{:.1f}" fill="#2b8a3e">{}</text>)",
        left, y(mark.value), width - right, y(mark.value), left + 4, y(mark.value) - 4, escape(mark.label));
  const double half = std::min(step * 0.28, 26.0);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const Box& box = boxes[i];
    const double x = left + (width - left - right) * (static_cast<double>(i) + 0.5) / static_cast<double>(boxes.size());
    for (const double v : box.outliers)
      svg += fmt::format(R"(<path d="M{:.1f} {:.1f}m-2.5 -2.5l5 5m0 -5l-5 5" stroke="#c2250c" fill="none"/>)", x, y(v));
    svg += fmt::format(
        R"(<path d="M{0:.1f} {1:.1f}V{2:.1f}M{0:.1f} {3:.1f}V{4:.1f}M{5:.1f} {1:.1f}H{6:.1f}M{5:.1f} {4:.1f}H{6:.1f}" stroke="#1d2530" fill="none"/>)",
        x, y(box.low), y(box.q1), y(box.q3), y(box.high), x - half / 2, x + half / 2);
    svg +=
        fmt::format(R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="#dce8f8" stroke="#1f5fbf"/>)",
                    x - half, y(box.q3), 2 * half, std::max(y(box.q1) - y(box.q3), 1.0));
    svg += fmt::format(R"(<path d="M{:.1f} {:.1f}h{:.1f}" stroke="#c2250c" stroke-width="2"/>)", x - half,
                       y(box.median), 2 * half);
    svg += fmt::format(R"(<text x="{:.1f}" y="{}" text-anchor="middle">{}</text>)", x, height - bottom + 16,
                       escape(box.label));
  }
  return svg +
         fmt::format(R"(<text x="{:.1f}" y="{}" text-anchor="end">{}</text></svg>)", width - right, height - 8,
                     escape(below)) +
         "\n";
}

}  // namespace volvox::sim
