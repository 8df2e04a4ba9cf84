// MuJoCo's functions by pointers, which come from the library of PyPI's package. Included before everything else when
// the engine's sources are compiled for it: Debian's MuJoCo is in the same process, and has functions of the same
// names.
#pragma once

#include <mujoco/mujoco.h>

// clang-format off
#define VOLVOX_MUJOCO3_FUNCTIONS(F) \
  F(mj_Euler) \
  F(mj_addBufferVFS) \
  F(mj_collision) \
  F(mj_comPos) \
  F(mj_comVel) \
  F(mj_contactForce) \
  F(mj_crb) \
  F(mj_defaultVFS) \
  F(mj_deleteData) \
  F(mj_deleteModel) \
  F(mj_deleteVFS) \
  F(mj_factorM) \
  F(mj_fwdAcceleration) \
  F(mj_fwdActuation) \
  F(mj_fwdConstraint) \
  F(mj_fwdVelocity) \
  F(mj_jacBodyCom) \
  F(mj_kinematics) \
  F(mj_loadXML) \
  F(mj_makeConstraint) \
  F(mj_makeData) \
  F(mj_name2id) \
  F(mj_objectVelocity) \
  F(mj_projectConstraint) \
  F(mj_rnePostConstraint) \
  F(mj_setConst) \
  F(mj_solveM) \
  F(mj_tendon) \
  F(mj_transmission) \
  F(mj_versionString)
// clang-format on

namespace volvox::mujoco3 {

struct Functions {
#define VOLVOX_MUJOCO3_POINTER(name) decltype(&::name) name = nullptr;
  VOLVOX_MUJOCO3_FUNCTIONS(VOLVOX_MUJOCO3_POINTER)
#undef VOLVOX_MUJOCO3_POINTER
};
extern Functions functions;  // filled once, when the plugin is loaded; then only read

// Calls find(pointer, name) for each.
template <class Find>
void fill(Functions& f, Find&& find) {
#define VOLVOX_MUJOCO3_FIND(name) find(f.name, #name);
  VOLVOX_MUJOCO3_FUNCTIONS(VOLVOX_MUJOCO3_FIND)
#undef VOLVOX_MUJOCO3_FIND
}

}  // namespace volvox::mujoco3

#define mj_Euler (*::volvox::mujoco3::functions.mj_Euler)
#define mj_addBufferVFS (*::volvox::mujoco3::functions.mj_addBufferVFS)
#define mj_collision (*::volvox::mujoco3::functions.mj_collision)
#define mj_comPos (*::volvox::mujoco3::functions.mj_comPos)
#define mj_comVel (*::volvox::mujoco3::functions.mj_comVel)
#define mj_contactForce (*::volvox::mujoco3::functions.mj_contactForce)
#define mj_crb (*::volvox::mujoco3::functions.mj_crb)
#define mj_defaultVFS (*::volvox::mujoco3::functions.mj_defaultVFS)
#define mj_deleteData (*::volvox::mujoco3::functions.mj_deleteData)
#define mj_deleteModel (*::volvox::mujoco3::functions.mj_deleteModel)
#define mj_deleteVFS (*::volvox::mujoco3::functions.mj_deleteVFS)
#define mj_factorM (*::volvox::mujoco3::functions.mj_factorM)
#define mj_fwdAcceleration (*::volvox::mujoco3::functions.mj_fwdAcceleration)
#define mj_fwdActuation (*::volvox::mujoco3::functions.mj_fwdActuation)
#define mj_fwdConstraint (*::volvox::mujoco3::functions.mj_fwdConstraint)
#define mj_fwdVelocity (*::volvox::mujoco3::functions.mj_fwdVelocity)
#define mj_jacBodyCom (*::volvox::mujoco3::functions.mj_jacBodyCom)
#define mj_kinematics (*::volvox::mujoco3::functions.mj_kinematics)
#define mj_loadXML (*::volvox::mujoco3::functions.mj_loadXML)
#define mj_makeConstraint (*::volvox::mujoco3::functions.mj_makeConstraint)
#define mj_makeData (*::volvox::mujoco3::functions.mj_makeData)
#define mj_name2id (*::volvox::mujoco3::functions.mj_name2id)
#define mj_objectVelocity (*::volvox::mujoco3::functions.mj_objectVelocity)
#define mj_projectConstraint (*::volvox::mujoco3::functions.mj_projectConstraint)
#define mj_rnePostConstraint (*::volvox::mujoco3::functions.mj_rnePostConstraint)
#define mj_setConst (*::volvox::mujoco3::functions.mj_setConst)
#define mj_solveM (*::volvox::mujoco3::functions.mj_solveM)
#define mj_tendon (*::volvox::mujoco3::functions.mj_tendon)
#define mj_transmission (*::volvox::mujoco3::functions.mj_transmission)
#define mj_versionString (*::volvox::mujoco3::functions.mj_versionString)
