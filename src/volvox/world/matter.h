// The water, rubble and cloth of a world: a ParticleWorld among the links of the engine's bodies. Poses and velocities
// go in, and what the particles give to a link comes out as a force, through the engine interface alone, so that it
// works with every engine (docs/decisions/0062). SI units, world frame.
//
// The world owns it and calls it in its move phase. Const functions may be called from several threads at once. The
// same calls give the same bits at any number of threads, and after a restore.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "volvox/base/archive.h"
#include "volvox/base/result.h"
#include "volvox/base/step_status.h"
#include "volvox/base/thread_pool.h"
#include "volvox/model/matter.h"
#include "volvox/particles/particle_world.h"
#include "volvox/world/indices.h"

namespace volvox::world {

class World;

// How a link stands to the fluid around it.
struct Immersion {
  double submerged = 0;  // the part of its volume below the level around it, 0 to 1
  bool wet = false;      // fluid touches it
};

class Matter {
 public:
  // The links are where `world` has them. Errors name the file and the line of what is wrong. The environment variable
  // VOLVOX_DEVICE (auto, cpu or cuda) says what moves the particles: the bits are the same.
  static Result<std::unique_ptr<Matter>> create(const World& world, std::shared_ptr<const model::Matter> description,
                                                ThreadPool* threads);

  const model::Matter& description() const { return *description_; }
  const particles::ParticleWorld& particles() const { return *particles_; }
  // By link: its shape among the particles; the ones of a link that none can touch are empty.
  std::span<const particles::ShapeIndex> shapes_of(LinkIndex link) const;
  // What the particles gave a link in the last tick: impulse, N s, and its moment about the centre of mass, N m s.
  const Wrench& impulse(LinkIndex link) const { return impulses_[link]; }
  Immersion immersion(LinkIndex link) const;

  // Particles by number, of which each always means the same one: first the fluid, then grains and points of cloth.
  // There are as many numbers as there may ever be particles.
  std::uint32_t fluids() const { return most_fluid_; }
  std::uint32_t solids() const { return most_solids_; }
  // Of a grain or point of cloth, by its number less fluids(): which debris (from 0), or which cloth (after them).
  std::uint32_t kind_of_solid(std::uint32_t solid) const;
  std::uint64_t emitted() const;
  // Why the processor moves the particles although a GPU was asked for, or began; empty: there is nothing to say.
  const std::string& device_note() const { return note_.empty() ? particles_->device_note() : note_; }

  // Within the move phase. begin_tick: what is emitted and drained. advance: the particles, by so many s, and forces to
  // the links for the engine's next advance by the same time. end_tick: afterwards archive() only reads.
  StepStatus begin_tick(Time begin);
  StepStatus advance(World& world, double step);
  void end_tick() { particles_->end_tick(); }

  void archive(Archive& ar);
  std::size_t memory_bytes() const { return particles_->memory_bytes(); }

 private:
  struct Body {  // a shape, and the link that it belongs to
    LinkIndex link;
    particles::ShapeIndex shape = 0;
    Pose centre;          // of mass, and principal axes, in the frame of the link
    bool pushed = false;  // by particles
  };
  struct Source {
    const model::Emitter* emitter = nullptr;
    int debris = -1;                     // -1: fluid
    double pitch = 0;                    // m between layers, and between the points of one
    std::uint64_t seed = 0;              // of how far places are off their grid
    std::vector<Vec3> opening{};         // the points of a layer, in the emitter's frame
    std::uint64_t layers = 0, made = 0;  // so far; state
  };
  struct SolidRange {
    std::uint32_t first = 0, kind = 0;
  };

  Matter() = default;
  Result<void> add_links(const World& world);
  Result<void> add_fluid();
  Result<void> add_debris();
  Result<void> add_cloths();
  Result<void> add_sources(const World& world);
  Result<std::vector<Vec3>> fill(const model::Volume& volume, double pitch, double clear,
                                 const std::function<Vec3()>& off) const;
  bool is_free(const Source& source, const Vec3& point, double ahead, std::span<const particles::ShapeView> near) const;
  Result<void> emit(Source& source, double time);
  Diagnostic at(int line, const std::string& what, const std::string& fix) const;
  Error at(int line, const Error& error) const;

  std::shared_ptr<const model::Matter> description_;
  std::unique_ptr<particles::ParticleWorld> particles_;
  std::vector<Body> bodies_;
  std::vector<particles::ShapeIndex> shapes_;  // by link, one after another
  std::vector<std::uint32_t> first_shape_;     // by link, and one more
  std::vector<Source> sources_;
  std::vector<Wrench> impulses_;              // by link; state
  std::vector<SolidRange> ranges_;            // of what is there at the start, sorted by `first`
  std::uint32_t first_emitted_ = 0;           // solid
  std::vector<std::uint32_t> emitted_kinds_;  // of solids; state
  std::uint32_t most_fluid_ = 0, most_solids_ = 0;
  Vec3 gravity_;
  std::string note_;  // of the device
};

}  // namespace volvox::world
