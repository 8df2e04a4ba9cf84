// Tells viewers of the run's cloud: everybody what has changed, and those who have just come all of it, no faster than
// a browser takes it. Belongs to the thread of the loop.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "volvox/sim/cloud.h"
#include "volvox/view/web/web_server.h"

namespace volvox::view {

class CloudSender {
 public:
  using Clock = std::chrono::steady_clock;
  // To one client, or to all (0).
  using Send = std::function<void(std::string bytes, WebServer::ClientId client)>;
  explicit CloudSender(Send send) : send_(std::move(send)) {}

  // The next is another cloud, of which nobody knows anything.
  void forget();
  // These have come and know nothing of it.
  void greet(const std::vector<WebServer::ClientId>& newcomers);
  bool may_tell(Clock::time_point now) const { return now >= next_; }
  // What cannot be told yet is told later: it is known what viewers know. True: somebody was told something.
  bool tell(const std::vector<sim::CloudItem>& items, Clock::time_point now);

 private:
  Send send_;
  std::vector<sim::CloudItem> told_;  // what all but the newcomers know
  std::vector<std::uint32_t> changed_;
  std::vector<WebServer::ClientId> newcomers_;
  Clock::time_point next_{};  // when more may be told
};

}  // namespace volvox::view
