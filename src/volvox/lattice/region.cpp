#include "volvox/lattice/region.h"

#include <algorithm>

#include "volvox/base/check.h"
#include "volvox/base/index.h"

namespace volvox::lattice {
namespace {

constexpr std::size_t piece = std::size_t{16} << 20;  // bytes: parts of a state are sent in pieces of this size

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
    firsts_.push_back(narrow<std::uint32_t>(catoms * narrow<std::size_t>(r) / narrow<std::size_t>(ranks())));
  first_ = firsts_[narrow<std::size_t>(rank())];
  const bool last = rank() + 1 == ranks();
  size_ = (last ? std::numeric_limits<std::uint32_t>::max() : firsts_[narrow<std::size_t>(rank()) + 1]) - first_;
}

int Region::owner(std::uint32_t catom) const {
  if (firsts_.empty()) return 0;
  return narrow<int>(std::upper_bound(firsts_.begin(), firsts_.end(), catom) - firsts_.begin()) - 1;
}

std::vector<std::string> Region::collect(const std::string& own) const {
  std::vector<std::string> whole(narrow<std::size_t>(ranks()));
  each_piece(own, [&](std::size_t from, const std::string& bytes) { whole[from] += bytes; });
  return whole;
}

// In the order of the ranks, a piece at a time, so that the first rank need not have all of them at once.
void Region::each_piece(const std::string& own,
                        const std::function<void(std::size_t from, const std::string& bytes)>& take) const {
  if (alone()) return take(0, own);
  std::vector<std::uint64_t> sizes;
  for (const std::string& size : ranks_->tell_all("size", std::to_string(own.size())))
    sizes.push_back(size.empty() ? 0 : std::stoull(size));
  for (std::size_t from = 0; from < sizes.size(); ++from)
    for (std::uint64_t at = 0; at < sizes[from] && !ranks_->failure(); at += piece) {
      std::vector<std::string> letters(sizes.size());
      if (from == narrow<std::size_t>(rank())) letters[0] = own.substr(at, piece);
      const auto got = ranks_->swap("part", std::move(letters));
      if (leads()) take(from, got[from]);
    }
}

void Region::archive_parts(Archive& ar, const std::function<void(Archive&)>& own) const {
  VOLVOX_CHECK(!ar.loading(), "parts are written by all ranks, and each reads all of them");
  if (alone()) return own(ar);
  PartArchive mine(ar.hashing());
  own(mine);
  if (!mine.ok()) ranks_->fail(mine.failure());
  each_piece(mine.bytes(),
             [&](std::size_t, const std::string& bytes) { ar.raw(const_cast<char*>(bytes.data()), bytes.size()); });
  if (ranks_->failure()) ar.fail(ranks_->failure()->text());
}

}  // namespace volvox::lattice
