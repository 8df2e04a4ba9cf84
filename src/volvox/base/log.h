// The log sink. Libraries never print: they write to the Log that they are given. The owner of the Log (the
// command, a test, a viewer) decides where the lines go.
// Any thread may write, and lines are never mixed; the sink is called by one thread at a time. Lines of several threads
// come in any order: what is hashed or recorded must not depend on it.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace volvox {

enum class LogLevel { debug, info, warning, error };

std::string_view name(LogLevel level);

class Log {
 public:
  using Sink = std::function<void(LogLevel, std::string_view line)>;

  Log() = default;  // discards everything
  explicit Log(Sink sink, LogLevel threshold = LogLevel::info) : sink_(std::move(sink)), threshold_(threshold) {}

  // May be called from any thread; lines are never mixed.
  void write(LogLevel level, std::string_view line);
  void debug(std::string_view line) { write(LogLevel::debug, line); }
  void info(std::string_view line) { write(LogLevel::info, line); }
  void warning(std::string_view line) { write(LogLevel::warning, line); }
  void error(std::string_view line) { write(LogLevel::error, line); }

 private:
  Sink sink_;
  LogLevel threshold_ = LogLevel::info;
  std::mutex mutex_;
};

}  // namespace volvox
