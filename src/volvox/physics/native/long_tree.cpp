#include "volvox/physics/native/long_tree.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "volvox/base/check.h"

namespace volvox::physics::native {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

}  // namespace

void LongTree::predict(World& world, double step, ThreadPool* threads) {
  if (anchored_) ground_.load(world);
  if (!load_drags(world, step, threads)) drags_.clear();
  const bool first = tick_ != world.tick;
  tick_ = world.tick;
  SegmentOrder order;
  order.step = step;
  std::atomic<bool> walled = false;
  for_packs(threads, [&](SegmentPack& pack) {
    if (first) pack.load_state(world, step);
    pack.load_above(world, ground_.state);
    pack.load_drags(drags_, first_);
    if (pack.run(SegmentStage::load, order).walled) walled = true;
    pack.add_pushes(world);
    pack.load_latches(world, step);
    pack.run(SegmentStage::condense, order);
    pack.stale = false;
  });
  bool changed = false;
  if (walled) {
    solve(false, DrivePass::first, threads, changed);
    for_packs(threads, [&](SegmentPack& pack) {
      pack.run(SegmentStage::know_walls, {});
      pack.stale = true;
    });
  }
  for (int pass = 0; pass < most_passes; ++pass) {
    const bool last = pass + 1 == most_passes;
    solve(!last, last ? DrivePass::last : pass_after(pass), threads, changed);
    if (!changed) break;
  }
  touched_ = false;
}

void LongTree::predict_again(World& /*world*/, ThreadPool* threads) {
  for_packs(threads, [](SegmentPack& pack) {
    pack.run(SegmentStage::correct, {});
    pack.stale = true;
  });
  bool changed = false;
  solve(false, DrivePass::first, threads, changed);
  touched_ = false;
}

void LongTree::solve(bool settle, DrivePass pass, ThreadPool* threads, bool& changed) {
  for_packs(threads, [](SegmentPack& pack) {
    if (pack.stale) pack.run(SegmentStage::condense, {});
    pack.stale = false;
  });
  put_together();
  SegmentOrder order;
  order.settle = settle, order.pass = pass;
  std::atomic<bool> any = false;
  for_packs(threads, [&](SegmentPack& pack) {
    for (int lane = 0; lane < pack.lanes(); ++lane) {
      const Segment& own = pack.shown(lane);
      pack.put_end(lane, own.joined.end_d, own.joined.end_z);
      pack.put_fresh(lane, own.above >= 0 ? segment(own.above).joined.end_fresh : root_fresh_);
    }
    pack.stale = pack.run(SegmentStage::solve, order).changed;
    if (pack.stale) any = true;
  });
  changed = any;
}

// From the leaves to the root, then back.
void LongTree::put_together() {
  for (const auto& own : segments_) own->joined.end_d = {}, own->joined.end_z = {};
  for (std::size_t i = segments_.size(); i-- > 0;) {
    Segment& own = *segments_[i];
    SegmentPack::Seen seen;
    own.pack->see(own.lane, seen);
    join(seen, own.joined);
    if (own.above < 0) continue;
    Joined& above = segment(own.above).joined;
    above.end_d = above.end_d + own.joined.d, above.end_z = above.end_z + own.joined.z;
  }
  root_fresh_ = ground_.state.v;
  if (!anchored_) {
    root_ = inverse_factor(segments_[0]->joined.d);
    root_fresh_ = native::solve(root_, segments_[0]->joined.z);
  }
  for (const auto& own : segments_) {
    Joined& joined = own->joined;
    joined.end_fresh =
        times(joined.phi, own->above >= 0 ? segment(own->above).joined.end_fresh : root_fresh_) + joined.c;
  }
}

Verdict LongTree::take_up(World& /*world*/, ThreadPool* threads) {
  if (!touched_) return Verdict::holds;
  walk_.move_to(*parts_[0]);
  for_packs(threads, [&](SegmentPack& pack) {
    pack.load_coordinates();
    pack.run(SegmentStage::sum_change, {});
  });
  const Spatial<double> root = anchored_ ? Spatial<double>{} : times_inverse_transposed(root_, parts_[0]->coordinates);
  const auto change_above = [&](const Segment& own) {
    return own.above >= 0 ? segment(own.above).joined.end_change : root;
  };
  for (const auto& own : segments_)
    own->joined.end_change = times(own->joined.phi, change_above(*own)) + own->pack->end_change(own->lane);
  std::atomic<Verdict> worst = Verdict::holds;
  for_packs(threads, [&](SegmentPack& pack) {
    for (int lane = 0; lane < pack.lanes(); ++lane) pack.put_change(lane, change_above(pack.shown(lane)));
    raise_to(worst, pack.run(SegmentStage::take_up, {}).verdict);
  });
  return worst;
}

void LongTree::finish(World& world, double step, ThreadPool* threads) {
  const Vec3 fall = anchored_ ? Vec3{} : outer_fall(world, step);
  for_packs(threads, [&](SegmentPack& pack) {
    pack.add_pushes(world);
    pack.run(SegmentStage::sum_passed, {});
  });
  for (const auto& own : segments_) own->joined.end_passed = {};
  for (std::size_t i = segments_.size(); i-- > 1;) {
    const Segment& own = *segments_[i];
    Spatial<double>& above = segment(own.above).joined.end_passed;
    above = above + own.pack->passed(own.lane) + impulse_to_parent(own.joined.end_passed, own.pack->reach(own.lane));
  }
  SegmentOrder order;
  order.step = step, order.fall = fall;
  std::atomic<double> most = 0;
  for_packs(threads, [&](SegmentPack& pack) {
    for (int lane = 0; lane < pack.lanes(); ++lane) pack.put_passed(lane, pack.shown(lane).joined.end_passed);
    raise_to(most, pack.run(SegmentStage::finish, order).most_tension);
    pack.commit_bodies(world);
  });
  most_tension_ = most;
}

void LongTree::commit_joints(World& world, ThreadPool* threads) const {
  if (tick_ != world.tick) return;
  for_packs(threads, [&](const SegmentPack& pack) { pack.commit_joints(world); });
}

// What joints passed on in the last substep. The packs know, if that was in this tick or in the one before.
void LongTree::read_tensions(const World& world, ThreadPool* threads) {
  tensions_.resize(bodies_.size());
  if (tick_ <= world.tick && world.tick <= tick_ + 1)
    return for_packs(threads, [&](const SegmentPack& pack) { pack.read_tensions(tensions_, first_); });
  most_tension_ = 0;
  std::size_t node = 0;
  for (const auto& own : segments_) {
    for (const int joint : own->joints) {
      tensions_[node] = joint < 0 ? 0 : world.tensions[at(joint)];
      most_tension_ = std::max(most_tension_, tensions_[node++]);
    }
  }
}

// True if some link is pulled so hard that it may need to be held back.
bool LongTree::load_drags(const World& world, double step, ThreadPool* threads) {
  const auto safe = [&](double tension) { return tension * step * step < safe_pull_; };
  const bool known = tick_ <= world.tick && world.tick <= tick_ + 1;
  if (known && safe(most_tension_)) return false;
  read_tensions(world, threads);
  if (safe(most_tension_)) return false;
  // Calls visit(segment, node, its place among all nodes, that of its parent; -1: the ground, or nothing).
  const auto for_nodes = [&](const auto& visit) {
    for (const auto& own : segments_) {
      const std::size_t first = first_[at(own->order)];
      std::ptrdiff_t above = -1;
      if (own->above >= 0) above = static_cast<std::ptrdiff_t>(first_[at(own->above)]) + segment(own->above).end;
      const std::vector<SegmentPlace>& places = own->pattern->places;
      for (std::size_t i = 0; i < places.size(); ++i)
        visit(*own, i, first + i, i > 0 ? static_cast<std::ptrdiff_t>(first) + places[i].parent : above);
    }
  };
  // Only links of a joint that is pulled so hard can need it.
  pulled_.assign(bodies_.size(), 0);
  for_nodes([&](const Segment&, std::size_t, std::size_t node, std::ptrdiff_t parent) {
    if (!(tensions_[node] * step * step >= safe_pull_)) return;
    pulled_[node] = 1;
    if (parent >= 0) pulled_[static_cast<std::size_t>(parent)] = 1;
  });
  drags_.assign(bodies_.size(), {});
  for_nodes([&](const Segment& own, std::size_t i, std::size_t node, std::ptrdiff_t parent) {
    const bool above = parent >= 0 && pulled_[static_cast<std::size_t>(parent)];
    if (!pulled_[node] && !above) return;
    drags_[node] = drags_[node] + drag_torque(tensions_[node], own.shapes[i].anchor_child);
    if (parent < 0) return;
    V3<double>& its = drags_[static_cast<std::size_t>(parent)];
    its = its + drag_torque(tensions_[node], own.shapes[i].anchor_parent);
  });
  bool any = false;
  for_nodes([&](const Segment& own, std::size_t i, std::size_t node, std::ptrdiff_t) {
    drags_[node] = pulled_[node] ? stability_drag(drags_[node], own.shapes[i].moments, step) : V3<double>{};
    any = any || any_drag(drags_[node]);
  });
  return any;
}

Vec3 LongTree::predicted_velocity(int node, const Vec3& arm) const {
  const Segment& own = *spot(node).segment;
  const Spatial<double> v = own.pack->predicted(own.lane, spot(node).node);
  return plain(v.l) + volvox::cross(plain(v.a), arm);
}

// Asked of islands of one part only.
NodeRows LongTree::node_rows(int /*node*/, bool /*whole*/) const {
  VOLVOX_ASSERT(false);
  return {};
}

void LongTree::clear_coordinates() {
  for (const auto& own : segments_) own->whitened.clear_coordinates();
  walk_.begin(*parts_[0]);
}

const SixBySix& LongTree::response_above(const Segment& own) const {
  return own.above >= 0 ? segment(own.above).joined.response : root_response_;
}

void LongTree::find_responses() {
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) {
      root_response_[i][j] = 0;
      for (int k = std::max(i, j); !anchored_ && k < 6; ++k) root_response_[i][j] += root_.e[k][i] * root_.e[k][j];
    }
  }
  for (const auto& own : segments_) respond(own->joined, response_above(*own));
}

void LongTree::whiten(std::span<const int> nodes, ThreadPool* threads) {
  for (const auto& own : segments_) own->whitened.want_none();
  for (const int node : nodes) {
    SegmentSpot at_node = spot(node);
    while (at_node.segment->whitened.want(at_node.segment->shapes, at_node.node) && at_node.segment->above >= 0) {
      Segment& above = segment(at_node.segment->above);
      at_node = {&above, above.end};
    }
  }
  touched_ = true;
  find_responses();
  for_packs(threads, [&](const SegmentPack& pack) {
    for (int lane = 0; lane < pack.lanes(); ++lane) {
      Segment* const own = pack.owner(lane);
      if (!own || !own->whitened.wanted(0)) continue;
      if (own->order == 0 && !anchored_) own->whitened.parts()[0].hold_root(root_);
      else own->whitened.parts()[0].hold(response_above(*own));
    }
    // Node by node: while their data is at hand.
    for (std::size_t i = 0; i < pack.pattern()->places.size(); ++i) {
      for (int lane = 0; lane < pack.lanes(); ++lane) {
        Segment* const own = pack.owner(lane);
        if (!own || !own->whitened.wanted(i)) continue;
        JointFactor joint;
        pack.joint_factor(lane, static_cast<int>(i), joint);
        own->whitened.whiten(i, own->shapes[i], &joint);
      }
    }
  });
  for (const auto& own : segments_) {
    WhitenedPart& first = own->whitened.parts()[0];
    if (first.above && own->whitened.wanted(0)) first.find_way();
  }
}

RowSpan LongTree::span(int node) {
  const WhitenedPart& part = spot(node).segment->whitened.part_of(at(spot(node).node));
  return {part.coordinates, part.width, part.number};
}

void LongTree::write_rows(int node, const Vec3& arm, const Vec3 (&directions)[3], double sign, bool add, bool whole,
                          double* rows) const {
  spot(node).segment->whitened.write_rows(at(spot(node).node), arm, directions, sign, add, whole, rows);
}

void LongTree::add_cross_terms(int part_a, const double* rows_a, int part_b, const double* rows_b, double (&gram)[6]) {
  native::add_cross_terms(part_at(part_a), rows_a, part_at(part_b), rows_b, gram);
}

}  // namespace volvox::physics::native
