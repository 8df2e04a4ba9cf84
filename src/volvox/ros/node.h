// The interface of a node of ROS 1 or ROS 2 for the bridge. It uses plain types only, because the headers of ROS 1 need
// C++17 and those of Volvox C++20; this one compiles as both. SI units, rad.
// Called from the thread of the loop; an implementation may hear in threads of its own, and keeps what it heard until
// take_heard.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace volvox::ros {

class Node {
 public:
  virtual ~Node() = default;

  // Subscribes to Float64 messages of a topic ("/arm/neck/command"); they are reported with this number.
  virtual void listen(const std::string& topic, int number) = 0;
  struct Heard {
    int number;
    double value;
  };
  virtual std::vector<Heard> take_heard() = 0;  // since the last call, in order of arrival
  virtual bool ok() const = 0;                  // false: ROS has shut it down

  struct Vector {
    double x, y, z;
  };
  struct Joint {
    std::string name;
    double position, velocity, effort;
  };
  struct Frame {  // in the world frame
    std::string name;
    Vector position;
    double rotation_xyzw[4];
  };
  virtual void publish_clock(std::int64_t now_ns) = 0;
  virtual void publish_bodies(std::int64_t now_ns, const std::vector<Joint>& joints,
                              const std::vector<Frame>& frames) = 0;

  struct Scan {
    float angle_min, angle_max, angle_increment;  // rad
    float range_min, range_max;                   // m
    std::vector<float> ranges;
  };
  struct ColoredPoint {  // m; 0x00RRGGBB, sRGB: as they lie in a PointCloud2 with the fields x, y, z and rgb
    float x, y, z;
    std::uint32_t rgb;
  };
  static_assert(sizeof(ColoredPoint) == 16);
  enum class Shape { number, vector, scan, imu, text, cloud };
  virtual int advertise(const std::string& topic, Shape shape, const std::string& frame) = 0;
  virtual bool is_heard(int topic) const = 0;  // there is a subscriber
  virtual void publish_number(int topic, double value) = 0;
  virtual void publish_vector(int topic, std::int64_t now_ns, const Vector& vector) = 0;
  virtual void publish_scan(int topic, std::int64_t now_ns, const Scan& scan) = 0;
  virtual void publish_imu(int topic, std::int64_t now_ns, const Vector& angular_velocity,
                           const Vector& linear_acceleration) = 0;
  virtual void publish_text(int topic, const std::string& text) = 0;
  virtual void publish_cloud(int topic, std::int64_t now_ns, const std::vector<ColoredPoint>& points) = 0;
};

// The fields of a ColoredPoint, in the words of sensor_msgs/PointField, whose number 7 is FLOAT32 (also of rgb).
struct PointFieldInfo {
  const char* name;
  std::uint32_t offset;
};
inline constexpr PointFieldInfo point_fields[] = {{"x", 0}, {"y", 4}, {"z", 8}, {"rgb", 12}};
inline constexpr std::uint8_t point_field_type = 7;

constexpr std::size_t most_heard = 10'000;  // between two ticks; further messages are dropped

}  // namespace volvox::ros
