#include "volvox/view/web/cloud_sender.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

namespace volvox::view {
namespace {

using ClientId = WebServer::ClientId;
using Cloud = std::vector<sim::CloudItem>;

// What a page knows that was told this.
void learn(Cloud& known, const std::string& bytes) {
  std::uint32_t items = 0, changed = 0;
  std::memcpy(&items, bytes.data() + 4, 4);
  std::memcpy(&changed, bytes.data() + 8, 4);
  known.resize(items);
  for (std::uint32_t i = 0; i < changed; ++i) {
    std::uint32_t item = 0;
    std::memcpy(&item, bytes.data() + 12 + 4 * i, 4);
    std::memcpy(&known.at(item), bytes.data() + 12 + 4 * changed + 16 * i, 16);
  }
}

class CloudSenderTest : public testing::Test {
 protected:
  void join(ClientId client) {
    pages_[client] = {};
    sender_.greet({client});
  }
  bool tell() {
    sent_ = 0;
    return sender_.tell(cloud_, now_);
  }
  void wait() { now_ += std::chrono::seconds(1); }

  Cloud cloud_ = Cloud(1000, sim::CloudItem{{1, 2, 3}, {4, 5, 6}, sim::CloudItem::open});
  std::map<ClientId, Cloud> pages_;
  std::size_t sent_ = 0;  // bytes, times those who get them
  CloudSender sender_{[this](const std::string& bytes, ClientId client) {
    for (auto& [id, known] : pages_)
      if (client == 0 || client == id) learn(known, bytes), sent_ += bytes.size();
  }};
  CloudSender::Clock::time_point now_{};
};

TEST_F(CloudSenderTest, ANewcomerIsToldAllAndTheOthersOnlyWhatHasChanged) {
  join(1);
  EXPECT_TRUE(tell());
  EXPECT_EQ(pages_[1], cloud_);
  wait();
  EXPECT_FALSE(tell());
  cloud_[7].shown = sim::CloudItem::gone;
  join(2);
  EXPECT_TRUE(tell());
  EXPECT_EQ(pages_[1], cloud_);
  EXPECT_EQ(pages_[2], cloud_);
  EXPECT_LT(sent_, 12 + 1000 * 20 + 2 * (12 + 20) + 1);  // all of it went out once
}

TEST_F(CloudSenderTest, ANewcomerWhoComesWhenNothingChangesIsToldAllOnce) {
  join(1);
  tell();
  wait();
  join(2);
  EXPECT_TRUE(tell());
  EXPECT_EQ(pages_[2], cloud_);
  EXPECT_EQ(sent_, 12u + 1000 * 20);
  wait();
  EXPECT_FALSE(tell());
}

TEST_F(CloudSenderTest, TheFirstMessageGoesOutOnceHoweverManyCome) {
  join(1), join(2), join(3);
  tell();
  EXPECT_EQ(sent_, 3u * (12 + 1000 * 20));
  sender_.forget();  // another run: its cloud has other items
  cloud_.resize(10);
  tell();
  EXPECT_EQ(pages_[3], cloud_);
}

TEST_F(CloudSenderTest, MoreThanABrowserTakesWaits) {
  cloud_.resize(100'000, cloud_[0]);  // 2 MB: 20 ms
  join(1);
  tell();
  cloud_[3].shown = sim::CloudItem::gone;
  join(2);
  EXPECT_FALSE(sender_.may_tell(now_));
  EXPECT_FALSE(tell());
  now_ += std::chrono::milliseconds(25);
  EXPECT_TRUE(tell());
  EXPECT_EQ(pages_[1], cloud_);
  EXPECT_EQ(pages_[2], cloud_);
}

}  // namespace
}  // namespace volvox::view
