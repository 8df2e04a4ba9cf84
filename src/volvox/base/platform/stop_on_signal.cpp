#include "volvox/base/platform/stop_on_signal.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string_view>

namespace volvox::platform {
namespace {

constexpr int ending[] = {SIGINT, SIGTERM};

std::atomic<bool> flag = false;  // a signal handler has no object
std::atomic<bool> hangup_ignored = false;

void on_signal(int) {
  const int error = errno;
  if (!flag.exchange(true)) {
    constexpr std::string_view text = "\nvolvox: stopping at the end of this tick; Ctrl-C once more ends it at once\n";
    (void)!write(STDERR_FILENO, text.data(), text.size());
  }
  for (const int signal : ending) std::signal(signal, SIG_DFL);
  errno = error;
}

}  // namespace

StopOnSignal::StopOnSignal() {
  flag = false;
  for (const int signal : ending) std::signal(signal, on_signal);
  hangup_ignored = std::signal(SIGHUP, on_signal) == SIG_IGN;
  if (hangup_ignored) std::signal(SIGHUP, SIG_IGN);
}

StopOnSignal::~StopOnSignal() {
  for (const int signal : ending) std::signal(signal, SIG_DFL);
  if (!hangup_ignored) std::signal(SIGHUP, SIG_DFL);
}

const std::atomic<bool>& StopOnSignal::requested() const { return flag; }

}  // namespace volvox::platform
