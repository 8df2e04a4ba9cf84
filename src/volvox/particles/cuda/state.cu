// What goes to the GPU's memory and comes back from it.
#include <algorithm>

#include "volvox/particles/cuda/world.cuh"

namespace volvox::particles {

using namespace cuda;

namespace {

// Whether one of some buffers moved.
template <class Buffers>
bool reserve(const Buffers& buffers, std::size_t size) {
  bool moved = false;
  for (auto* buffer : buffers) moved = buffer->reserve(size) || moved;
  return moved;
}

// More than is needed now, so that a world to which some are added keeps its buffers and graphs.
std::size_t room_for(std::size_t count, std::size_t before) {
  if (count <= before) return count == 0 ? 0 : before;
  return before == 0 ? count : count + count / 8;
}

}  // namespace

bool DeviceWorld::SetMemory::reserve(std::size_t cells) {
  if (room == 0) return false;
  bool moved =
      particles::reserve(std::array{&position, &velocity, &sorted_position, &sorted_velocity, &at, &move}, room);
  moved = particles::reserve(std::array{&id, &sorted_id, &cell, &slot, &unsorted, &sorted_cell}, room) || moved;
  return particles::reserve(std::array{&count_of_cell, &first}, cells) || moved;
}

Points DeviceWorld::SetMemory::view(std::uint32_t set) const {
  return {set,
          room,
          position.get(),
          velocity.get(),
          id.get(),
          sorted_position.get(),
          sorted_velocity.get(),
          sorted_id.get(),
          cell.get(),
          slot.get(),
          unsorted.get(),
          sorted_cell.get(),
          count_of_cell.get(),
          first.get()};
}

bool DeviceWorld::ListMemory::reserve(std::size_t points) {
  if (points == 0) return false;
  const bool moved = entry.reserve(points * stride);
  return count.reserve(points) || moved;
}

bool DeviceWorld::reserve_all(const DeviceState& state) {
  const std::size_t fluids = fluid_.room, solids = solid_.room;
  blocks_ = std::max<std::size_t>(1, blocks_of(std::max(fluids, solids)));
  cells_ = static_cast<std::size_t>(Cells::most(fluids + solids)) + 8;
  bool moved = fluid_.reserve(cells_);
  const auto note = [&](bool one) { moved = one || moved; };
  note(solid_.reserve(cells_));
  note(scan_.reserve(scan_bytes(cells_)));
  note(lists_[0].reserve(fluids));
  note(lists_[1].reserve(solids));
  note(lists_[2].reserve(solids > 0 ? fluids : 0));
  note(lists_[3].reserve(fluids > 0 ? solids : 0));
  note(reserve(std::array{&seen_, &scratch_}, fluids));
  note(density_.reserve(fluids));
  note(reserve(std::array{&spin_, &sorted_spin_, &push_, &turn_, &ball_, &sought_}, solids));
  note(other_spin_.reserve(solids));
  note(reserve(std::array{&grain_, &sorted_grain_}, solids));
  note(reserve(std::array{&on_shapes_, &sorted_on_shapes_}, solids));
  note(skin_.reserve(solids));
  note(shift_.reserve(solids * lists_[1].stride));
  note(shifted_.reserve(solids * lists_[1].stride / lanes + 4));  // words are written
  note(reserve(std::array{&from_, &touch_count_}, solids));
  note(index_.reserve(room_for(state.ids, index_.size())));
  note(touch_id_.reserve(solids * touch_room_));
  note(touch_shift_.reserve(solids * touch_room_));
  note(threads_.reserve(state.thread_blocks));
  note(thread_points_.reserve(state.points));
  note(rest_.reserve(state.rests));
  note(solving_.reserve(solving_bytes(state.rests)));
  return moved;
}

// Graphs have buffers, rooms and strides in them.
void DeviceWorld::make_room(const DeviceState& state) {
  const std::size_t fluids = room_for(state.fluids, fluid_.room), solids = room_for(state.solids, solid_.room);
  bool changed = fluids != fluid_.room || solids != solid_.room || !fits_;
  fluid_.room = fluids, solid_.room = solids;
  fits_ = true;
  changed = reserve_all(state) || changed;
  if (changed) graphs_.clear();
}

AllPoints DeviceWorld::points() const {
  AllPoints all{};
  all.set[fluid_set] = fluid_.view(fluid_set);
  all.set[solid_set] = solid_.view(solid_set);
  all.solid = {spin_.get(),         sorted_spin_.get(), grain_.get(),
               sorted_grain_.get(), on_shapes_.get(),   sorted_on_shapes_.get(),
               sought_.get(),       skin_.get(),        from_.get(),
               index_.get(),        touch_count_.get(), touch_id_.get(),
               touch_shift_.get(),  touch_room_,        shift_.get(),
               shifted_.get()};
  all.fluid_of_fluid = lists_[0].view();
  all.solid_of_solid = lists_[1].view();
  all.solid_of_fluid = lists_[2].view();
  all.fluid_of_solid = lists_[3].view();
  for (int axis = 0; axis < 3; ++axis)
    all.settings.low[axis] = settings_.low[axis], all.settings.high[axis] = settings_.high[axis];
  all.settings.drains = drains_.get();
  all.settings.drain_count = static_cast<std::uint32_t>(settings_.drain_count);
  all.settings.largest_radius = settings_.largest_radius;
  all.settings.support = settings_.numbers.support;
  all.settings.fluid_reach = settings_.numbers.support / 2;
  all.settings.fluid_skin = settings_.fluid_skin;
  all.settings.wet = settings_.wet;
  all.settings.skins = settings_.skins;
  all.control = control_.get();
  all.cells = cells_;
  all.scan = scan_.get();
  all.scan_size = scan_.size();
  return all;
}

FluidView DeviceWorld::fluid_view() const {
  return {settings_.numbers, fluid_.position.get(), fluid_.velocity.get(), fluid_.at.get(),  fluid_.move.get(),
          seen_.get(),       scratch_.get(),        lists_[0].view(),      lists_[2].view(), solid_.room > 0,
          solid_.at.get(),   solid_.move.get(),     control_.get()};
}

SolidView DeviceWorld::solid_view() const {
  return {solid_.position.get(), solid_.velocity.get(),
          spin_.get(),           solid_.at.get(),
          solid_.move.get(),     push_.get(),
          turn_.get(),           ball_.get(),
          other_spin_.get(),     grain_.get(),
          on_shapes_.get(),      lists_[1].view(),
          lists_[3].view(),      shift_.get(),
          shifted_.get(),        fluid_.room > 0,
          settings_.numbers,     seen_.get(),
          fluid_.move.get(),     settings_.air_drag,
          settings_.rolling,     solid_.sorted_position.get(),
          skin_.get(),           control_.get()};
}

ThreadView DeviceWorld::thread_view() const {
  return {threads_.get(),       groups_.empty() ? 0 : groups_.back(),
          thread_points_.get(), rest_.get(),
          solving_.get(),       index_.get(),
          solid_.at.get(),      solid_.move.get(),
          control_.get()};
}

SubstepView DeviceWorld::substep_view(std::size_t at, std::size_t shapes, double exact_dt) const {
  const auto dt = static_cast<float>(exact_dt);
  const auto g = [&](int axis) { return static_cast<float>(settings_.gravity[axis]) * dt; };
  return {static_cast<std::int32_t>(at),
          shapes_.get() + at * shapes,
          static_cast<std::uint32_t>(shapes),
          parts_.get() + at * blocks_ * shapes,
          dt,
          {g(0), g(1), g(2)},
          exact_dt,
          other_shapes_};
}

template <class T>
void DeviceWorld::copy_in(const Buffer<T>& to, const T* from, std::size_t count) {
  if (count > 0)
    check(cudaMemcpyAsync(to.get(), from, count * sizeof(T), cudaMemcpyHostToDevice, stream_), "to the GPU");
}
template <class T>
void DeviceWorld::copy_out(T* to, const Buffer<T>& from, std::size_t count) {
  if (count > 0 && to != nullptr)
    check(cudaMemcpyAsync(to, from.get(), count * sizeof(T), cudaMemcpyDeviceToHost, stream_), "from the GPU");
}
template void DeviceWorld::copy_out(float*, const Buffer<float>&, std::size_t);

void DeviceWorld::load(const DeviceState& state) {
  if (state.touch_room > touch_room_) touch_room_ = static_cast<std::uint32_t>(state.touch_room), fits_ = false;
  make_room(state);
  copy_in(fluid_.position, state.position, state.fluids);
  copy_in(fluid_.velocity, state.velocity, state.fluids);
  copy_in(fluid_.id, state.id, state.fluids);
  if (state.solids > 0) load_solids(state);
  Control& control = control_here_[0] = {};
  control.count[fluid_set] = static_cast<std::uint32_t>(state.fluids);
  control.count[solid_set] = static_cast<std::uint32_t>(state.solids);
  control.touches_kept = 1;
  check(cudaMemcpyAsync(control_.get(), &control, sizeof(Control), cudaMemcpyHostToDevice, stream_), "to the GPU");
  check(cudaStreamSynchronize(stream_), "to the GPU");
}

void DeviceWorld::load_solids(const DeviceState& state) {
  const std::size_t count = state.solids;
  copy_in(solid_.position, state.solid_position, count);
  copy_in(solid_.velocity, state.solid_velocity, count);
  copy_in(spin_, state.spin, count);
  copy_in(solid_.id, state.solid_id, count);
  copy_in(grain_, state.grain, count);
  copy_in(on_shapes_, state.on_shapes, count);
  copy_in(touch_count_, state.touch_count, count);
  // Rows of touches, which may have more room here. Those who are not there have no index.
  if (state.touch_room > 0) {
    const auto rows = [&](auto* to, const auto* from) {
      check(cudaMemcpy2DAsync(to, touch_room_ * sizeof *to, from, state.touch_room * sizeof *from,
                              state.touch_room * sizeof *from, count, cudaMemcpyHostToDevice, stream_),
            "to the GPU");
    };
    rows(touch_id_.get(), state.touch_id);
    rows(touch_shift_.get(), state.touch_shift);
  }
  check(cudaMemsetAsync(index_.get(), 0xff, state.ids * sizeof(std::uint32_t), stream_), "to the GPU");
  copy_in(threads_, state.threads, state.thread_blocks);
  copy_in(thread_points_, state.thread_points, state.points);
  copy_in(rest_, state.rest, state.rests);
  rests_ = state.rests;
  groups_.clear();
  for (std::size_t b = 0; b < state.thread_blocks; ++b)
    if (b == 0 || state.threads[b].group != state.threads[b - 1].group)
      groups_.push_back(static_cast<std::uint32_t>(b));
  if (state.thread_blocks > 0) groups_.push_back(static_cast<std::uint32_t>(state.thread_blocks));
}

void DeviceWorld::save(const DeviceState& state) {
  copy_out(state.position, fluid_.position, state.fluids);
  copy_out(state.velocity, fluid_.velocity, state.fluids);
  copy_out(state.id, fluid_.id, state.fluids);
  copy_out(state.seen, seen_, state.fluids);
  if (state.solids > 0) {
    const std::size_t count = state.solids;
    keep_touches(points(), stream_);
    copy_out(state.solid_position, solid_.position, count);
    copy_out(state.solid_velocity, solid_.velocity, count);
    copy_out(state.spin, spin_, count);
    copy_out(state.solid_id, solid_.id, count);
    copy_out(state.grain, grain_, count);
    copy_out(state.on_shapes, on_shapes_, count);
    copy_out(state.touch_count, touch_count_, count);
    copy_out(state.touch_id, touch_id_, count * touch_room_);
    copy_out(state.touch_shift, touch_shift_, count * touch_room_);
    copy_out(state.rest, rest_, rests_);
  }
  copy_out(control_here_.get(), control_, 1);
  check(cudaStreamSynchronize(stream_), "from the GPU");
  if (grow()) throw Failure("there is too little room for touches");
}

}  // namespace volvox::particles
