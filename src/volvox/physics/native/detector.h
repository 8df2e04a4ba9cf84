// Collision detection: finds the points at which bodies touch, or may touch before the next detection.
// SI units. Its result depends only on poses, velocities and the previous contacts, not on threads or on its buffers.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "volvox/base/thread_pool.h"
#include "volvox/base/union_find.h"
#include "volvox/physics/native/broad_phase.h"
#include "volvox/physics/native/contact.h"
#include "volvox/physics/native/contact_rules.h"
#include "volvox/physics/native/manifold.h"
#include "volvox/physics/native/narrow_phase.h"
#include "volvox/physics/native/pair_collision.h"
#include "volvox/physics/native/plane_contacts.h"
#include "volvox/physics/native/plane_kernel.h"
#include "volvox/physics/native/work.h"

namespace volvox::physics::native {

class Detector {
 public:
  explicit Detector(Work& work) : work_(work) {}

  // Pairs of points nearer than this are always found, so bodies may deviate by this much from their predicted motion.
  static constexpr double slack = detection_slack;  // m
  // A body that is hit may move on within the same substep, with the speed of the body that hit it, but at most this.
  static constexpr double hit_speed = 1.0;  // m/s
  // A body that deviates more than this from its predicted motion must be looked at again.
  static constexpr double bearable_surprise = native::bearable_surprise;  // m

  struct View {
    const System& system;
    const std::vector<Body>& bodies;
    const std::vector<std::shared_ptr<const Shape>>& shapes;  // by body index; null: touches nothing
    std::span<const std::uint8_t>
        ahead{};  // by body index: its pose here is of another substep; empty: all are current
    bool lags(std::size_t body) const { return !ahead.empty() && ahead[body] != 0; }
  };

  // Replaces `contacts` by those of the next `horizon` seconds. Points that existed before keep their impulses, and
  // points between bodies that do not move are kept as they are. For two bodies that approach very fast (a hasty pair)
  // the present nearest points say little about where they will meet, so only the next substep is considered. The other
  // (calm) pairs come first, sorted by bodies, then the hasty ones. Robots that are near nothing but a plane are
  // reported to `planes`, which keeps their contacts; null: they have theirs in `contacts`, too.
  void detect(const View& view, double horizon, double step, ThreadPool* threads, std::vector<ContactPoint>& contacts,
              PlaneContacts* planes = nullptr);
  // Repeats it before the horizon of the last detection is over, for the contacts of some bodies only: `alarmed` bodies
  // were hit so hard that they may leave the region that was searched for them.
  void detect_again(const View& view, std::span<const std::uint8_t> alarmed, double horizon, double step,
                    ThreadPool* threads, std::vector<ContactPoint>& contacts, PlaneContacts& planes);
  // Finds the bodies with older poses (View::ahead) that may come near an alarmed one within the horizon. The last full
  // detection excludes most of them; it says nothing about those in `late`, whose poses are newer. `lag`: the age of a
  // body's pose, s.
  struct Laggards {
    std::span<const int> late;
    std::function<double(int body)> lag;
    std::function<Body(int body)> before;
  };
  void find_laggards_near(const View& view, std::span<const std::uint8_t> alarmed, const Laggards& laggards,
                          double horizon, double step, std::vector<int>& near);
  // Repeats the detection of hasty pairs, for the next substep.
  void detect_hasty(const View& view, double step, ThreadPool* threads, std::vector<ContactPoint>& contacts);
  // The number of contacts of calm pairs; they are the first ones.
  std::size_t calm_count() const { return calm_count_; }
  void set_calm_count(std::size_t count) { calm_count_ = count; }
  bool any_hasty() const { return !hasty_.empty(); }
  // Calls visit(body), for some bodies more than once.
  template <class Visit>
  void for_each_in_hasty_pairs(const Visit& visit) const {
    for (const BroadPhase::Pair& pair : hasty_) visit(pair.a), visit(pair.b);
  }
  bool in_hasty_pair(int body) const { return is_hasty_[static_cast<std::size_t>(body)] != 0; }

 private:
  using Pairs = std::vector<BroadPhase::Pair>;
  // The previous contacts, sorted by bodies. If a detection is for alarmed bodies only, calm contacts of two other
  // bodies stay.
  struct OldContacts {
    std::span<ContactPoint> calm, hasty;
    std::span<const std::uint8_t> alarmed;
    bool stays(const ContactPoint& c) const {
      return !alarmed.empty() && !alarmed[static_cast<std::size_t>(c.a)] && !alarmed[static_cast<std::size_t>(c.b)];
    }
  };
  // Pairs that one thread looks at, one after the other.
  struct Chunk {
    PairRoom room;
    std::vector<BodyPair> pairs;  // those that are near
    std::vector<ConvexPair> listed;
    std::vector<ContactPoint> found;
  };
  void find_pairs(const View& view, std::span<const std::uint8_t> alarmed, double horizon, double step,
                  ThreadPool* threads, PlaneContacts* planes);
  void collect_items(const View& view, std::span<const std::uint8_t> alarmed, double horizon, ThreadPool* threads);
  BroadPhase::Item item_of(const View& view, std::size_t index, const Body& body, double horizon, double margin) const;
  void drop_neighbours_that_do_not_meet(const View& view, double horizon, double step);
  bool may_meet(const View& view, const BroadPhase::Pair& pair, double within, double horizon);
  void let_round_lead(const View& view);
  void add_half_spaces(const View& view, double horizon, ThreadPool* threads, PlaneContacts* planes);
  void look_at_half_spaces(const View& view, const BroadPhase::Item& item, double horizon, std::uint8_t* near) const;
  void merge(Pairs& pairs, std::size_t first_part);
  bool one_plane_that_stands(const View& view, int ground) const;
  bool out_of_reach(const View& view, BroadPhase::Pair pair, double horizon) const;
  bool may_touch(const View& view, int a, int b) const;
  void set_hasty_apart(const View& view, double horizon);
  bool hasty(const View& view, BroadPhase::Pair pair, double horizon) const;
  void foresee_hits(const View& view, double step);
  double slack_of(const View& view, const BroadPhase::Pair& pair) const;
  void collide_pairs(const View& view, const Pairs& pairs, double horizon, ThreadPool* threads, const OldContacts& old,
                     std::vector<ContactPoint>& contacts);
  void add_chunk();
  BodyPair body_pair(const View& view, const BroadPhase::Pair& pair, double within) const;
  void find_near(const View& view, std::span<const BroadPhase::Pair> pairs, double horizon, const OldContacts& old,
                 Chunk& chunk) const;
  static OldContacts in_runs(std::vector<ContactPoint>& contacts);
  void keep_sleeping(const View& view, std::span<const ContactPoint> olds, std::vector<ContactPoint>& contacts);

  Work& work_;
  BroadPhase broad_phase_;    // of the last full detection
  BroadPhase of_alarmed_;     // of later, partial ones
  double slack_ = slack;      // of this detection, for bodies that nothing hits
  double widest_ = slack;     // the largest, for bodies that are hit
  std::vector<double> hits_;  // by the root of a crowd (bodies near each other): the largest closing speed in it, m/s
  std::vector<double> crowd_reach_;  // by first body of a pair: how far a hit in its crowd may move it in a substep, m
  UnionFind crowds_;
  UnionFind neighbours_;               // islands with bodies near each other's
  std::vector<std::uint8_t> meeting_;  // by the root of neighbours: some of them may meet
  std::vector<BroadPhase::Item> items_, items_of_all_;
  double widest_of_all_ = slack;
  std::vector<int> asked_;                // candidates: bodies that may be near an alarmed one
  std::vector<int> solid_bodies_;         // those of the items
  std::vector<int> islands_;              // the same
  std::vector<int> flat_bodies_;          // those with half-spaces
  std::vector<std::uint8_t> near_flats_;  // by item and flat body: how near they are
  Pairs pairs_, hasty_;
  Pairs on_flat_, merged_pairs_;        // scratch of find_pairs()
  std::vector<std::uint8_t> is_hasty_;  // by body
  std::size_t calm_count_ = 0;          // contacts of calm pairs
  std::vector<double> turning_;         // by body: the largest speed of its surface by rotation, m/s
  std::vector<Chunk> chunks_;
  std::vector<ConvexPair*> all_listed_;
  NarrowPhase narrow_phase_;
  std::vector<ContactPoint> old_, merged_;
};

// The points of a body's convex cores against a half-space, at most four for the whole body.
// `convex` says which convex each point of the manifold belongs to.
void collide_half_space(const Shape& shape, const SeenPlane& plane, Manifold& out, int (&convex)[Manifold::most_found]);

}  // namespace volvox::physics::native
