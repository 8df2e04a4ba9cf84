#include "volvox/lattice/region.h"

#include <algorithm>

#include "volvox/base/check.h"
#include "volvox/base/index.h"

namespace volvox::lattice {
namespace {

constexpr std::size_t piece = std::size_t{64} << 20;  // bytes: parts of a state are sent in pieces of this size

// Saves bytes that are to be hashed, if the archive that gets them hashes.
class PartArchive final : public Archive {
 public:
  explicit PartArchive(bool hashing) : hashing_(hashing) {}
  bool hashing() const override { return hashing_; }
  std::string& bytes() { return bytes_; }

 private:
  void pass(void* data, std::size_t size) override { bytes_.append(static_cast<const char*>(data), size); }
  bool hashing_;
  std::string bytes_;
};

}  // namespace

void Region::cut(std::size_t catoms) {
  if (is_cut()) return;
  for (int r = 0; r < ranks(); ++r)
    firsts_.push_back(narrow<std::uint32_t>(catoms * static_cast<std::size_t>(r) / static_cast<std::size_t>(ranks())));
  first_ = firsts_[static_cast<std::size_t>(rank())];
  const bool last = rank() + 1 == ranks();
  size_ = (last ? std::numeric_limits<std::uint32_t>::max() : firsts_[static_cast<std::size_t>(rank()) + 1]) - first_;
}

int Region::owner(std::uint32_t catom) const {
  if (firsts_.empty()) return 0;
  return narrow<int>(std::upper_bound(firsts_.begin(), firsts_.end(), catom) - firsts_.begin()) - 1;
}

std::vector<std::string> Region::collect(const std::string& own) const {
  std::vector<std::string> whole(static_cast<std::size_t>(ranks()));
  if (alone()) {
    whole[0] = own;
    return whole;
  }
  std::uint64_t most = 0;
  for (const std::string& size : ranks_->tell_all("size", std::to_string(own.size())))
    if (!size.empty()) most = std::max<std::uint64_t>(most, std::stoull(size));
  for (std::size_t at = 0; at < most && !ranks_->failure(); at += piece) {
    std::vector<std::string> letters(whole.size());
    if (at < own.size()) letters[0] = own.substr(at, piece);
    const auto got = ranks_->swap("part", std::move(letters));
    if (!leads()) continue;
    for (std::size_t r = 0; r < got.size(); ++r) whole[r] += got[r];
  }
  return whole;
}

void Region::archive_parts(Archive& ar, const std::function<void(Archive&)>& own) const {
  VOLVOX_CHECK(!ar.loading(), "parts are written by all ranks, and each reads all of them");
  if (alone()) return own(ar);
  PartArchive mine(ar.hashing());
  own(mine);
  const auto parts = collect(mine.bytes());
  if (ranks_->failure()) return ar.fail(ranks_->failure()->text());
  if (!leads()) return;
  for (const std::string& part : parts) ar.raw(const_cast<char*>(part.data()), part.size());
}

}  // namespace volvox::lattice
