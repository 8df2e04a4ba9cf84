// Contacts of a convex shape with an infinite plane: all corners that are near, in one step
// and exactly. Bullet's own finds one point a step and builds a patch up over several.
#pragma once

#include <btBulletCollisionCommon.h>

namespace volvox::physics::bullet {

// Makes the dispatcher use it for every convex shape.
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
