// A ROS 1 node, as plain as can be: the headers of ROS are C++17, ours are C++20, and this one is
// both. It knows nothing of Volvox.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

class RosNode {
 public:
  // Null, and why: no master answers. Its spinner has a thread of its own, from listen() on.
  static std::unique_ptr<RosNode> start(const std::string& name, std::string& why);
  virtual ~RosNode() = default;

  // Float64 on that topic is heard under this number.
  virtual void listen(const std::string& topic, int number) = 0;
  struct Heard {
    int number;
    double value;
  };
  virtual std::vector<Heard> take_heard() = 0;  // since it was last asked, in order
  virtual bool ok() const = 0;                  // false: it was shut down from outside

  struct Joint {
    std::string name;
    double position, velocity, effort;
  };
  struct Frame {  // in the world's
    std::string name;
    double position[3], rotation_xyzw[4];
  };
  virtual void publish_clock(std::int64_t now_ns) = 0;
  virtual void publish_bodies(std::int64_t now_ns, const std::vector<Joint>& joints, const std::vector<Frame>& frames) = 0;

  enum class Shape { number, vector, scan, text };
  virtual int advertise(const std::string& topic, Shape shape, const std::string& frame) = 0;
  virtual bool is_heard(int topic) const = 0;  // somebody listens
  virtual void publish_number(int topic, double value) = 0;
  virtual void publish_vector(int topic, std::int64_t now_ns, double x, double y, double z) = 0;
  virtual void publish_scan(int topic, std::int64_t now_ns, double field_of_view, double max_range, const std::vector<double>& distances) = 0;
  virtual void publish_text(int topic, const std::string& text) = 0;
};
