// Many small things of one shape beside the modules of the world: the catoms of a lattice (the experiment that
// simulates them is the Cloud), or the particles of the world (matter_cloud.h). Recorder, pictures and viewers find
// it by Run::cloud() and read it between two ticks, from the thread of the run. They only read. Items are numbered from
// 0, and a number always means the same item. Lengths in m, world frame. What people do to an item comes as an input
// (TapInput), and so is recorded and replayed.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace volvox::sim {

// In the layout that goes to a socket or a GPU.
struct CloudItem {
  // covered: only a cut through the cloud shows it. 2 to 255 (`open`): shown, at so many 255ths of CloudLook::size.
  enum Shown : std::uint8_t { gone = 0, covered = 1, open = 255 };
  std::array<float, 3> position{};
  std::array<std::uint8_t, 3> color{};  // sRGB
  std::uint8_t shown = gone;
  friend bool operator==(const CloudItem&, const CloudItem&) = default;
};
static_assert(sizeof(CloudItem) == 16);

inline constexpr std::array<std::uint8_t, 3> no_color = {205, 208, 212};  // of an item without a colour of its own

// What does not change in a run.
struct CloudLook {
  enum class Shape : std::uint8_t { box, ball, cylinder, stone };  // a cylinder stands upright
  std::string noun = "item";                                       // "catom"
  Shape shape = Shape::box;
  std::array<double, 3> size{1, 1, 1};  // along x, y and z
  std::vector<std::string> values{};    // numbers of its program, by which it can be coloured
  bool can_be_tapped = false;
  // The first `drops` items are drops of a fluid, which is drawn as one surface. drop_size: the distance between drops
  // of the fluid at rest.
  std::uint32_t drops = 0;
  double drop_size = 0;
  std::array<std::uint8_t, 3> fluid_color{};  // sRGB, of still fluid
  // A cloth, which is drawn as one sheet: its points are the items from `first` on, row by row. Distances are those of
  // the cloth at rest.
  struct Sheet {
    std::uint32_t first = 0, columns = 0, rows = 0;
    double column_distance = 0, row_distance = 0;
  };
  std::vector<Sheet> sheets{};
  bool in_sheet(std::size_t item) const;
};

class Cloud {
 public:
  virtual ~Cloud() = default;
  virtual CloudLook cloud_look() const = 0;
  virtual void cloud_items(std::vector<CloudItem>& items) const = 0;  // all, by number
  // What a person may know of the program of an item: a line each.
  virtual std::vector<std::string> cloud_state(std::uint32_t item) const = 0;
  // Somebody taps an item, in the input phase of a tick. False: there is no such item, or it cannot be tapped.
  virtual bool cloud_tap(std::uint32_t /*item*/) { return false; }
  // A value of CloudLook::values, by item; NaN: it has none.
  virtual void cloud_values(std::size_t value, std::vector<float>& out) const = 0;
};

// From dark violet (0) through green to yellow (1); sRGB.
std::array<std::uint8_t, 3> ramp_color(double part);

// Gives the items the colours of their values, from the least to the largest, which are returned; those without a value
// are grey.
std::pair<double, double> color_by(std::span<const float> values, std::vector<CloudItem>& items);

// A plane across x (0), y (1) or z (2), in m. What lies beyond it is taken away, and what it lays bare is shown.
struct CloudCut {
  int axis = 0;
  double at = 0;
};
void cut_open(const CloudCut& cut, const CloudLook& look, std::vector<CloudItem>& items);

}  // namespace volvox::sim
