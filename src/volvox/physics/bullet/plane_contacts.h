// Contacts of a convex shape with an infinite plane: finds all near corners in one step, exactly. Bullet's own
// algorithm finds one point in a step and needs several steps for a patch.
// Must outlive the dispatcher. One thread; deterministic.
#pragma once

#include <btBulletCollisionCommon.h>

namespace volvox::physics::bullet {

// Registers it with the dispatcher for every convex shape.
class PlaneContacts {
 public:
  void install(btCollisionDispatcher& dispatcher);

 private:
  struct CreateFunc : btCollisionAlgorithmCreateFunc {
    btCollisionAlgorithm* CreateCollisionAlgorithm(btCollisionAlgorithmConstructionInfo& info,
                                                   const btCollisionObjectWrapper* body0,
                                                   const btCollisionObjectWrapper* body1) override;
  };
  CreateFunc create_, create_swapped_;
};

}  // namespace volvox::physics::bullet
