// Makes a MuJoCo model of a system, and reads the state back into the system.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "volvox/base/index.h"
#include "volvox/physics/mujoco/mujoco_world.h"

namespace volvox::physics::mujoco {
namespace {

Vec3 vec(const mjtNum* v) { return {v[0], v[1], v[2]}; }
Quat quat(const mjtNum* q) { return {q[0], q[1], q[2], q[3]}; }
void put(mjtNum* to, const Vec3& v) { to[0] = v.x, to[1] = v.y, to[2] = v.z; }
void put(mjtNum* to, const Quat& q) { to[0] = q.w, to[1] = q.x, to[2] = q.y, to[3] = q.z; }

// MuJoCo's error in words for users who do not know its XML. MuJoCo names the element by our name: b7, or g7_0 and f7_0
// for the shapes of body 7.
StepStatus refusal(const std::string& problem, const System& system, std::uint64_t contacts) {
  if (problem.find("could not create mjData") != std::string::npos)
    return {BodyId{}, fmt::format("MuJoCo has no memory for {} contacts of {} bodies; place them apart, or use another "
                                  "engine, such as --engine native",
                                  contacts, system.bodies.size())};
  if (problem.starts_with("XML parse error 18"))  // of its parser: elements nested too deep
    return {BodyId{},
            "a robot is a chain of more links than MuJoCo can nest (about 500); use shorter chains, or another engine, "
            "such as --engine native"};
  StepStatus status;
  const std::size_t named = problem.find("name");
  const std::size_t begin = named == std::string::npos ? named : problem.find_first_of("bgf", named + 4);
  std::size_t index = 0;
  if (begin != std::string::npos &&
      std::from_chars(problem.data() + begin + 1, problem.data() + problem.size(), index).ec == std::errc{} &&
      index < system.bodies.size())
    status.body = BodyId{narrow<std::uint32_t>(index), 0};
  std::string reason = problem.substr(0, problem.find('\n'));
  for (const std::string_view prefix : {"XML Error: ", "XML parse error: ", "Error: "})
    if (reason.starts_with(prefix)) reason.erase(0, prefix.size());
  status.what = fmt::format(
      "MuJoCo refuses the system: {}; correct the mass, the inertia or the shape there, or use another engine, such as "
      "--engine native",
      reason);
  return status;
}

}  // namespace

StepStatus World::build() {
  forest_ = std::make_unique<Forest>(system_);
  room_ = std::max<std::uint64_t>(room_, 64 + 2 * system_.bodies.size());
  const std::string xml = write_mjcf(system_, *forest_, room_);
  auto files = std::make_unique<mjVFS>();
  mj_defaultVFS(files.get());
  constexpr const char* name = "system.xml";
#if mjVERSION_HEADER < 3000000
  mj_makeEmptyFileVFS(files.get(), name, narrow<int>(xml.size()));
  std::memcpy(files->filedata[mj_findFileVFS(files.get(), name)], xml.data(), xml.size());
#else
  mj_addBufferVFS(files.get(), name, xml.data(), narrow<int>(xml.size()));
#endif
  char problem[500] = "";
  model_.reset(mj_loadXML(name, files.get(), problem, sizeof problem));
  mj_deleteVFS(files.get());
  if (!model_) return refusal(problem, system_, room_);
  index_model();
  fill_fields();
  data_.reset(mj_makeData(model_.get()));
  if (!data_) {
    model_.reset();
    return {BodyId{}, "MuJoCo has no memory for this system"};
  }
  mj_setConst(model_.get(), data_.get());
  kept_.assign(row_slots * system_.joint_descs.size(), 0);
  place_bodies();
  return {};
}

void World::index_model() {
  body_ids_.assign(system_.bodies.size(), 0);
  colliders_.assign(model_->ngeom, {});
  axes_.clear();
  for (std::size_t i = 0; i < system_.bodies.size(); ++i) {
    if (!system_.body_ids.alive_index(i)) continue;
    const BodyDesc& desc = system_.bodies[i];
    body_ids_[i] = mj_name2id(model_.get(), mjOBJ_BODY, body_name(i).c_str());
    // The exact values: MuJoCo's reader rounds or balances them.
    if (desc.motion == Motion::dynamic) put(model_->body_inertia + 3 * id(i), desc.moments);
    for (std::size_t c = 0; desc.geometry && c < desc.geometry->colliders.size(); ++c) {
      colliders_[mj_name2id(model_.get(), mjOBJ_GEOM, geom_name(i, c).c_str())] = {i, c};
    }
    if (forest_->joint[i] < 0) continue;
    const std::size_t joint = forest_->joint[i];
    const int number = mj_name2id(model_.get(), mjOBJ_JOINT, joint_name(joint).c_str());
    if (number < 0) continue;
    const int dofs = system_.joint_descs[joint].type == JointType::ball ? 3 : 1;
    axes_.push_back({joint, model_->jnt_dofadr[number], model_->jnt_qposadr[number], dofs});
  }
  trees_.clear();
  for (const int root : forest_->roots) {
    const std::size_t first = root;
    if (system_.bodies[first].motion != Motion::dynamic || forest_->joint[first] >= 0 ||
        forest_->children[first].empty())
      continue;
    std::vector<std::size_t>& tree = trees_.emplace_back(1, first);
    for (std::size_t at = 0; at < tree.size(); ++at) {
      for (const int child : forest_->children[tree[at]]) tree.push_back(child);
    }
  }
  std::sort(axes_.begin(), axes_.end(), [](const Axis& x, const Axis& y) { return x.dof < y.dof; });
}

void World::fill_fields() {
  for (std::size_t i = 0; i < system_.bodies.size(); ++i) {
    if (!system_.body_ids.alive_index(i) || !system_.bodies[i].geometry) continue;
    const auto& colliders = system_.bodies[i].geometry->colliders;
    for (std::size_t c = 0; c < colliders.size(); ++c) {
      const auto* field = std::get_if<model::HeightField>(&colliders[c].shape);
      if (!field) continue;
      const int number = mj_name2id(model_.get(), mjOBJ_HFIELD, field_name(i, c).c_str());
      float* out = model_->hfield_data + model_->hfield_adr[number];
      const double low = (*field)->lowest(), rise = std::max(1e-6, (*field)->highest() - low);
      for (std::size_t k = 0; k < (*field)->heights.size(); ++k)
        out[k] = to_float((double{(*field)->heights[k]} - low) / rise);
    }
  }
}

Pose World::frame_pose(std::size_t body) const {
  return {vec(data_->xpos + 3 * id(body)), quat(data_->xquat + 4 * id(body))};
}

// Sets the state of the trees from the system: the poses of the roots and the positions of the joints.
void World::place_bodies() {
  placed_ = true;
  for (std::size_t i = 0; i < system_.bodies.size(); ++i) {
    if (!system_.body_ids.alive_index(i)) continue;
    if (system_.bodies[i].motion == Motion::fixed) {
      put(model_->body_pos + 3 * id(i), system_.poses[i].position);
      put(model_->body_quat + 4 * id(i), normalized(system_.poses[i].rotation));
    } else if (forest_->joint[i] < 0) {
      const Pose pose = system_.poses[i] * body_frame(system_.bodies[i]);
      put(free_place(i), pose.position);
      put(free_place(i) + 3, normalized(pose.rotation));
    }
  }
  for (std::size_t i = 0; i < system_.bodies.size(); ++i) {
    if (!system_.body_ids.alive_index(i) || forest_->joint[i] < 0) continue;
    const std::size_t joint = forest_->joint[i];
    const auto axis = std::find_if(axes_.begin(), axes_.end(), [&](const Axis& x) { return x.joint == joint; });
    if (axis == axes_.end()) continue;
    if (axis->dofs == 1) {
      data_->qpos[axis->place] = system_.joints[joint].position;
      continue;
    }
    const int parent = forest_->parent[i];
    const Quat from = parent < 0 ? Quat{} : (system_.poses[parent] * body_frame(system_.bodies[parent])).rotation;
    const Quat now = (system_.poses[i] * body_frame(system_.bodies[i])).rotation;
    put(data_->qpos + axis->place,
        normalized(rest_pose(system_, *forest_, i).rotation.conjugate() * (from.conjugate() * now)));
  }
  mj_kinematics(model_.get(), data_.get());
  mj_comPos(model_.get(), data_.get());
  mj_crb(model_.get(), data_.get());
  mj_factorM(model_.get(), data_.get());
  project_velocities();
}

// Sets the velocities of the trees so that momentum is conserved: M qvel = sum J^T m v. Motion against a joint or a
// closed dock is lost, as in an impact without restitution.
void World::project_velocities() {
  const std::size_t size = model_->nv;
  std::vector<double> momentum(size, 0), linear(3 * size), angular(3 * size);
  for (std::size_t i = 0; i < system_.bodies.size(); ++i) {
    if (!system_.body_ids.alive_index(i) || system_.bodies[i].motion == Motion::fixed) continue;
    mj_jacBodyCom(model_.get(), data_.get(), linear.data(), angular.data(), id(i));
    const Quat axes = frame_pose(i).rotation;
    const Twist& v = system_.velocities[i];
    const Vec3 push = v.linear * model_->body_mass[id(i)];
    const Vec3 spin = axes * multiply(vec(model_->body_inertia + 3 * id(i)), axes.conjugate() * v.angular);
    for (std::size_t k = 0; k < size; ++k) {
      for (int r = 0; r < 3; ++r) {
        const std::size_t at = r * size + k;
        momentum[k] += linear[at] * push[r] + angular[at] * spin[r];
      }
    }
  }
  mj_solveM(model_.get(), data_.get(), data_->qvel, momentum.data(), 1);
}

void World::read_bodies() {
  mj_kinematics(model_.get(), data_.get());
  mj_comPos(model_.get(), data_.get());
  mj_comVel(model_.get(), data_.get());
  for (std::size_t i = 0; i < system_.bodies.size(); ++i) {
    if (!system_.body_ids.alive_index(i) || system_.bodies[i].motion == Motion::fixed) continue;
    system_.poses[i] = frame_pose(i) * body_frame(system_.bodies[i]).inverse();
    mjtNum velocity[6];
    mj_objectVelocity(model_.get(), data_.get(), mjOBJ_XBODY, id(i), velocity, 0);
    system_.velocities[i] = {vec(velocity + 3), vec(velocity)};
  }
  for (const Axis& axis : axes_) {
    if (axis.dofs == 1) system_.joints[axis.joint].position = data_->qpos[axis.place];
  }
}

// MuJoCo gives the wrench of a parent on its child, about the centre of mass of the tree.
Wrench World::load_of_tree_joint(std::size_t body) const {
  const JointDesc& desc = system_.joint_descs[forest_->joint[body]];
  const mjtNum* passed = data_->cfrc_int + 6 * id(body);
  const Vec3 centre = vec(data_->subtree_com + 3 * model_->body_rootid[id(body)]);
  const Pose a = desc.a.valid()
                     ? frame_pose(desc.a.index) * body_frame(system_.bodies[desc.a.index]).inverse() * desc.frame_a
                     : desc.frame_a;
  const double sign = forest_->reversed[body] ? -1 : 1;
  const Vec3 force = vec(passed + 3) * sign, torque = vec(passed) * sign + cross(centre - a.position, force);
  const Quat to_a = a.rotation.conjugate();
  return {to_a * force, to_a * torque};
}

void World::read_loads(double step) {
  mj_rnePostConstraint(model_.get(), data_.get());
  for (std::size_t i = 0; i < system_.bodies.size(); ++i) {
    if (!system_.body_ids.alive_index(i) || forest_->joint[i] < 0) continue;
    loads_[forest_->joint[i]] += load_of_tree_joint(i) * step;
  }
  for (std::size_t i = 0; i < system_.joint_descs.size(); ++i) {
    if (!system_.joint_ids.alive_index(i)) continue;
    if (row_of_motor_[i] >= 0) motor_impulses_[i] += rows_[row_of_motor_[i]].force * step;
    loads_[i] += pulls_[i] * step;
  }
  // For a joint that closes a loop only the force is known: its first three rows.
  for (const int joint : forest_->loops) {
    const std::size_t index = joint;
    const int number = mj_name2id(model_.get(), mjOBJ_EQUALITY, equality_name(index, 0).c_str());
    for (int row = 0; row < data_->ne; ++row) {
      if (data_->efc_id[row] != number) continue;
      const JointDesc& desc = system_.joint_descs[index];
      const Quat a =
          desc.a.valid() ? system_.poses[desc.a.index].rotation * desc.frame_a.rotation : desc.frame_a.rotation;
      loads_[index] += Wrench{a.conjugate() * vec(data_->efc_force + row), {}} * step;
      break;
    }
  }
}

void World::read_contacts() {
  system_.contacts.clear();
  for (int i = 0; i < data_->ncon; ++i) {
    const mjContact& contact = data_->contact[i];
    mjtNum force[6];
    mj_contactForce(model_.get(), data_.get(), i, force);
    if (force[0] <= 0 && contact.dist > 0) continue;
    const std::size_t a = colliders_[contact.geom2].body, b = colliders_[contact.geom1].body;
    system_.contacts.push_back({system_.body_ids.at(a), system_.body_ids.at(b), vec(contact.pos), vec(contact.frame),
                                -contact.dist, force[0]});
  }
}

}  // namespace volvox::physics::mujoco
