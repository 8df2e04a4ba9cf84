// Base classes of most sensors. Internal to mind/.
// As sensor.h says, several threads read at once: nothing may change in a sensor.
#pragma once

#include "volvox/mind/sensor.h"

namespace volvox::mind {

template <class T>
class TypedSensor : public Sensor {
 public:
  const TypeInfo& type() const override { return type_of<T>(); }
  void read(const SenseContext& context, Value& reading) const override { measure(context, *reading.get<T>()); }
  virtual void measure(const SenseContext& context, T& reading) const = 0;
};

// A sensor that is mounted on a link.
template <class T>
class MountedSensor : public TypedSensor<T> {
 public:
  explicit MountedSensor(const model::Sensor& sensor) : link_(sensor.link), pose_(sensor.pose) {}

 protected:
  Pose mount(const SenseContext& c) const { return c.world.link_pose(c.link(link_)) * pose_; }
  int link_;
  Pose pose_;
};

}  // namespace volvox::mind
