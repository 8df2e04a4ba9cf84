#include "volvox/view/web/cloud_sender.h"

#include <algorithm>
#include <numeric>

#include "volvox/base/index.h"
#include "volvox/view/web/codec.h"

namespace volvox::view {
namespace {

constexpr double rate = 100e6;  // bytes/s that a browser surely takes

}  // namespace

void CloudSender::forget() {
  told_.clear();
  newcomers_.clear();
  next_ = {};
}

void CloudSender::greet(const std::vector<WebServer::ClientId>& newcomers) {
  newcomers_.insert(newcomers_.end(), newcomers.begin(), newcomers.end());
}

bool CloudSender::tell(const std::vector<sim::CloudItem>& items, Clock::time_point now) {
  if (!may_tell(now)) return false;
  const bool nobody_knows = told_.empty();
  std::size_t bytes = 0;
  changed_.clear();
  for (std::uint32_t i = 0; i < items.size(); ++i)
    if (i >= told_.size() || items[i] != told_[i]) changed_.push_back(i);
  if (!changed_.empty()) {
    told_ = items;
    std::string news = encode_cloud(items.size(), changed_, items);
    bytes = news.size();
    send_(std::move(news), 0);
  }
  if (!nobody_knows && !newcomers_.empty()) {
    changed_.resize(items.size());
    std::iota(changed_.begin(), changed_.end(), 0u);
    const std::string all = encode_cloud(items.size(), changed_, items);
    bytes = std::max(bytes, all.size());
    for (const WebServer::ClientId client : newcomers_) send_(all, client);
  }
  newcomers_.clear();
  next_ = now + std::chrono::microseconds(truncated<std::int64_t>(real(bytes) / rate * 1e6));
  return bytes > 0;
}

}  // namespace volvox::view
