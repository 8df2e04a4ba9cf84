#include "volvox/view/picture/picture_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "volvox/view/picture/gl_context.h"
#include "volvox/view/picture/gl_objects.h"
#include "volvox/view/picture/instances.h"
#include "volvox/view/picture/lines.h"
#include "volvox/view/picture/overlay.h"
#include "volvox/view/picture/shaders.h"
#include "volvox/view/picture/sheets.h"
#include "volvox/view/picture/smooth_edges.h"
#include "volvox/view/picture/water.h"

namespace volvox::view::picture {
namespace {

constexpr std::array<float, 3> horizon{0.915f, 0.928f, 0.945f}, zenith{0.80f, 0.85f, 0.905f};
constexpr double oldest_paleness = 0.72;  // of a stroboscopic sequence

struct UploadedLevel {
  VertexArray array;
  Buffer vertices, indices;
  GLsizei index_count = 0;
};
using UploadedMesh = std::vector<UploadedLevel>;

// The orthographic view of the light: a box around everything that casts shadows.
struct ShadowView {
  Matrix to_clip{}, to_map{};
  double texel_size = 0;  // m
  Vec3 x, y, sun;         // its axes
  double centre_x = 0, centre_y = 0, half_side = 0;

  // The projection of the box onto a plane along the light. Outside it the plane has no shadow.
  struct Patch {
    Vec3 centre, along_x, along_y;
  };
  std::optional<Patch> patch_on(const Vec3& origin, const Vec3& normal) const {
    const double slope = dot(sun, normal);
    if (slope < 0.02) return std::nullopt;  // the light comes along the ground or from below
    // Along the light onto the parallel plane through 0.
    const auto projected = [&](const Vec3& p) { return p - sun * (dot(p, normal) / slope); };
    return Patch{projected(x * centre_x + y * centre_y - origin) + origin, projected(x * half_side),
                 projected(y * half_side)};
  }
};

ShadowView shadow_view(const std::vector<Instances::Caster>& casters, const Viewpoint& view, int map_size) {
  const Vec3 z = view.sun, x = perpendicular(z), y = cross(z, x);
  const double reach = 3 * view.distance;
  Vec3 low{1e300, 1e300, 1e300}, high{-1e300, -1e300, -1e300};
  for (const Instances::Caster& caster : casters) {
    const Vec3 p{dot(caster.centre, x), dot(caster.centre, y), dot(caster.centre, z)};
    for (int k = 0; k < 3; ++k) {
      low[k] = std::min(low[k], clamp(p[k] - caster.radius, -reach, reach));
      high[k] = std::max(high[k], clamp(p[k] + caster.radius, -reach, reach));
    }
  }
  if (casters.empty()) low = high = {};
  // The side grows in steps and the middle moves in whole texels of the world, so that shadows do not flicker in a
  // video.
  const double wanted = std::max({high.x - low.x, high.y - low.y, 1e-3}) * 1.04;
  const double side = std::pow(1.25, std::ceil(std::log(wanted) / std::log(1.25)));
  const double texel = side / map_size;
  const auto snapped = [&](double middle, const Vec3& axis) {
    const double base = dot(view.target, axis);
    return std::round((middle + base) / texel) * texel - base;
  };
  const double cx = snapped((low.x + high.x) / 2, x), cy = snapped((low.y + high.y) / 2, y);
  const double depth = high.z - low.z + 2 * reach, top = high.z + 0.01;  // grounds lie below all casters
  const auto f = to_float;
  const auto matrix = [&](double s, double offset, double sz, double offset_z) {
    return Matrix{
        f(x.x * s), f(y.x * s), f(-z.x * sz), 0, f(x.y * s),          f(y.y * s),          f(-z.y * sz),           0,
        f(x.z * s), f(y.z * s), f(-z.z * sz), 0, f(-cx * s + offset), f(-cy * s + offset), f(top * sz + offset_z), 1};
  };
  return {matrix(2 / side, 0, 2 / depth, -1), matrix(1 / side, 0.5, 1 / depth, 0), texel, x, y, z, cx, cy, side / 2};
}

// The same lighting as in the shaders: see `skylight` and `to_screen` in shaders.h.
Vec3 ground_on_screen(Rgba color, const Vec3& normal, double direct) {
  Vec3 screen;
  const Vec3 sun_color{2.05, 1.98, 1.86}, sky_color{0.66, 0.71, 0.80}, bounce_color{0.44, 0.42, 0.40};
  const double part[3] = {color.r / 255.0, color.g / 255.0, color.b / 255.0};
  for (int k = 0; k < 3; ++k) {
    const double sky = bounce_color[k] + (sky_color[k] - bounce_color[k]) * (0.5 + 0.5 * normal.z);
    const double glow = 0.62 * std::pow(part[k], 2.2) * (sun_color[k] * direct + sky * 0.62);
    screen[k] = std::pow(clamp(1.22 * glow * (1 + glow * 0.16) / (1 + glow * 0.72), 0, 1), 1 / 2.2);
  }
  return screen;
}

class PictureEngine final : public RenderEngine {
 public:
  explicit PictureEngine(const PictureSettings& settings) : settings_(settings) {}

  ~PictureEngine() override {
    if (context_) context_->make_current();  // the members below delete their OpenGL objects in it
  }

  Result<void> start() {
    auto context = GlContext::create();
    if (!context.ok()) return context.error();
    context_ = std::move(*context);
    info_ = {"picture", "off-screen, by EGL: pictures and video without a display", context_->device(), true};
    GLint most = 0;
    glGetIntegerv(GL_MAX_SAMPLES, &most);
    samples_ = std::min(settings_.samples, most);
    auto canvas = make_canvas(settings_.width, settings_.height, samples_);
    if (!canvas.ok()) return canvas.error();
    canvas_ = std::move(*canvas);
    auto resolved = make_canvas(settings_.width, settings_.height, 0);
    if (!resolved.ok()) return resolved.error();
    resolved_ = std::move(*resolved);
    // A picture may take longer than a video frame: a larger map, because a texel is large if bodies stand far apart.
    auto map = make_shadow_map((std::max(settings_.width, settings_.height) > 1600 ? 2048 : 1024) *
                               (settings_.detail > 1 ? 2 : 1));
    if (!map.ok()) return map.error();
    shadow_map_ = std::move(*map);
    struct Wanted {
      Program& program;
      ShaderText vertex, fragment;
    };
    const char* quality = settings_.detail > 1 ? fine_version : fast_version;
    for (const Wanted& wanted :
         {Wanted{bodies_, {version, instance, body_vertex}, {quality, light, body_fragment}},
          {tiny_, {quality, light, instance, tiny_vertex}, {line_fragment}},
          {shadows_, {version, instance, shadow_vertex}, {version, shadow_fragment}},
          {open_ground_, {ground_vertex}, {version, open_ground, ground_fragment}},
          {shadowed_ground_, {ground_vertex}, {quality, light, shadowed_ground, ground_fragment}},
          {sky_, {sky_vertex}, {sky_fragment}},
          {lines_, {line_vertex}, {line_fragment}},
          {marks_, {version, instance, mark_vertex}, {line_fragment}}}) {
      auto made = make_program(wanted.vertex, wanted.fragment);
      if (!made.ok()) return made.error();
      wanted.program = std::move(*made);
    }
    empty_ = generate<VertexArray>(glGenVertexArrays);
    instances_ = generate<Buffer>(glGenBuffers);
    line_array_ = generate<VertexArray>(glGenVertexArrays);
    line_buffer_ = generate<Buffer>(glGenBuffers);
    return {};
  }

  const RenderEngineInfo& info() const override { return info_; }

  Result<void> load(std::shared_ptr<const RenderTree> tree) override {
    context_->make_current();
    tree_ = std::move(tree);
    frame_ = {};
    meshes_.clear();
    for (const auto& mesh : tree_->meshes) {
      UploadedMesh& levels = meshes_.emplace_back();
      for (const Mesh& level : mesh->levels) levels.push_back(upload(level));
    }
    return {};
  }

  Result<void> show(const Frame& frame) override {
    if (auto good = check(frame); !good.ok()) return good;
    frame_ = frame;
    return {};
  }

  Result<Image> image(const Camera& camera, std::span<const Frame> earlier) override {
    if (tree_ == nullptr || frame_.links.size() != tree_->links())
      return Error("there is nothing to draw yet", "load a render tree and show a frame first");
    if (!finite(camera.eye) || !finite(camera.target) || !finite(camera.up) || !finite(camera.sun) ||
        length(camera.sun) == 0 || !(camera.field_of_view > 0 && camera.field_of_view < pi))
      return Error("the camera has no valid position or field of view",
                   "give it finite coordinates and a field of view between 0 and 180 degrees");
    for (const Frame& frame : earlier)
      if (auto good = check(frame); !good.ok()) return good.error();
    context_->make_current();
    const Viewpoint view(camera, settings_.width, settings_.height);
    Instances instances;
    // Each instant has its own loads: the red of a module must not be taken for one.
    const auto tints_of = [&](const Frame& frame) {
      return settings_.docks == DockMarks::load ? load_tints(*tree_, frame) : std::vector<Rgba>{};
    };
    for (std::size_t i = 0; i < earlier.size(); ++i) {
      const double pale = oldest_paleness * (1 - real(i) / real(earlier.size()));
      instances.add(*tree_, earlier[i], view, settings_.detail, pale, true, tints_of(earlier[i]));
      instances.add_cloud(*tree_, earlier[i], view, settings_.detail, pale);
    }
    instances.add(*tree_, frame_, view, settings_.detail, 0, false, tints_of(frame_));
    instances.add_cloud(*tree_, frame_, view, settings_.detail, 0);
    if (settings_.docks == DockMarks::state) instances.add_docks(*tree_, frame_, view);
    instances.finish();
    if (auto made = add_sheets(view); !made.ok()) return made.error();
    draw(view, instances);
    Image image = read_back();
    if (samples_ == 0 || has_water()) edges_.smooth(image);  // its surface has one sample a pixel
    if (settings_.scale_bar) draw_scale_bar(image, view.pixels_per_tangent / view.distance);
    if (const GLenum error = glGetError(); error != GL_NO_ERROR)
      return Error(fmt::format("the graphics driver reports the error {:#x}", error),
                   "try a smaller picture, or LIBGL_ALWAYS_SOFTWARE=1");
    return image;
  }

 private:
  bool has_water() const { return tree_->cloud && tree_->cloud->look.drops > 0; }

  // Cloth, which has another form in every frame; and what water is drawn with, once.
  Result<void> add_sheets(const Viewpoint& view) {
    sheets_ = {};
    if (!tree_->cloud) return {};
    if (const Mesh mesh = sheets_of(tree_->cloud->look, frame_.cloud, view); !mesh.indices.empty()) {
      sheets_ = upload(mesh);
      for (const GLuint where : {3u, 4u, 5u, 6u}) glDisableVertexAttribArray(where);  // one pose for all
    }
    if (!has_water() || water_) return {};
    auto water = std::make_unique<Water>();
    if (auto started = water->start(canvas_.width, canvas_.height, settings_.detail > 1); !started.ok()) return started;
    water_ = std::move(water);
    return {};
  }

  void draw_sheets() const {
    if (sheets_.index_count == 0) return;
    glBindVertexArray(sheets_.array);
    glVertexAttrib4f(3, 0, 0, 0, 1);
    glVertexAttrib4f(4, 0, 0, 0, 1);
    glVertexAttrib4f(5, 0, 0, 0, 0);
    glVertexAttrib1f(6, 0);
    glDrawElements(GL_TRIANGLES, sheets_.index_count, GL_UNSIGNED_INT, nullptr);
  }

  Result<void> check(const Frame& frame) const {
    if (tree_ != nullptr && frame.links.size() == tree_->links() && frame.docks.size() == tree_->docks()) return {};
    return Error("the frame does not belong to the loaded render tree", "load the tree of its world first");
  }

  static UploadedLevel upload(const Mesh& mesh) {
    UploadedLevel level;
    level.array = generate<VertexArray>(glGenVertexArrays);
    glBindVertexArray(level.array);
    level.vertices = make_buffer(GL_ARRAY_BUFFER, std::span<const Vertex>(mesh.vertices));
    level.indices = make_buffer(GL_ELEMENT_ARRAY_BUFFER, std::span<const std::uint32_t>(mesh.indices));
    level.index_count = narrow<GLsizei>(mesh.indices.size());
    const auto attribute = [](GLuint where, GLint parts, GLenum type, GLboolean normalise, std::size_t offset) {
      glEnableVertexAttribArray(where);
      glVertexAttribPointer(where, parts, type, normalise, sizeof(Vertex), reinterpret_cast<const void*>(offset));
    };
    attribute(0, 3, GL_FLOAT, GL_FALSE, offsetof(Vertex, position));
    attribute(1, 3, GL_FLOAT, GL_FALSE, offsetof(Vertex, normal));
    attribute(2, 4, GL_UNSIGNED_BYTE, GL_TRUE, offsetof(Vertex, color));
    for (const GLuint where : {3u, 4u, 5u, 6u}) {
      glEnableVertexAttribArray(where);
      glVertexAttribDivisor(where, 1);
    }
    return level;
  }

  void draw_batch(const Batch& batch) const {
    const UploadedLevel& level = meshes_[batch.mesh][batch.level];
    glBindVertexArray(level.array);
    glBindBuffer(GL_ARRAY_BUFFER, instances_);
    const std::size_t first = batch.first * sizeof(Instance);
    const auto attribute = [&](GLuint where, GLint parts, GLenum type, GLboolean normalise, std::size_t offset) {
      glVertexAttribPointer(where, parts, type, normalise, sizeof(Instance),
                            reinterpret_cast<const void*>(first + offset));
    };
    attribute(3, 4, GL_FLOAT, GL_FALSE, offsetof(Instance, place));
    attribute(4, 4, GL_FLOAT, GL_FALSE, offsetof(Instance, turn));
    attribute(5, 4, GL_UNSIGNED_BYTE, GL_TRUE, offsetof(Instance, tint));
    attribute(6, 1, GL_FLOAT, GL_FALSE, offsetof(Instance, pale));
    glDrawElementsInstanced(GL_TRIANGLES, level.index_count, GL_UNSIGNED_INT, nullptr, narrow<GLsizei>(batch.count));
  }

  void draw(const Viewpoint& view, const Instances& instances) {
    glBindBuffer(GL_ARRAY_BUFFER, instances_);
    glBufferData(GL_ARRAY_BUFFER, instances.all.size() * sizeof(Instance), instances.all.data(), GL_STREAM_DRAW);
    const ShadowView shadows = shadow_view(instances.casters, view, shadow_map_.size);
    draw_shadows(shadows, instances);
    glBindFramebuffer(GL_FRAMEBUFFER, canvas_.framebuffer);
    glViewport(0, 0, canvas_.width, canvas_.height);
    glClearColor(horizon[0], horizon[1], horizon[2], 1);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    draw_bodies(view, shadows, instances, false);
    draw_grounds(view, shadows);
    draw_sky(view);
    if (has_water()) water_->draw(tree_->cloud->look, frame_.cloud, view, canvas_, horizon, zenith);
    draw_bodies(view, shadows, instances, true);
    draw_marks_inside(view, instances);
    if (settings_.rays) draw_lines(view, ray_ribbons(frame_, view));
    if (settings_.messages) {  // in front of all bodies, because senders are often surrounded by others
      glDisable(GL_DEPTH_TEST);
      draw_lines(view, traffic_ribbons(*tree_, frame_, view));
      glEnable(GL_DEPTH_TEST);
    }
  }

  void draw_shadows(const ShadowView& shadows, const Instances& instances) {
    glBindFramebuffer(GL_FRAMEBUFFER, shadow_map_.framebuffer);
    glViewport(0, 0, shadow_map_.size, shadow_map_.size);
    glEnable(GL_DEPTH_TEST);
    glDepthMask(GL_TRUE);
    glDepthFunc(GL_LEQUAL);
    glDisable(GL_BLEND);
    glEnable(GL_POLYGON_OFFSET_FILL);
    glPolygonOffset(1.5f, 4.0f);
    glClear(GL_DEPTH_BUFFER_BIT);
    glUseProgram(shadows_);
    set(shadows_, "to_clip", shadows.to_clip);
    for (const Batch& batch : instances.shadow_batches) {
      if (tree_->meshes[batch.mesh]->closed) glEnable(GL_CULL_FACE);  // front faces cast the whole shadow
      draw_batch(batch);
      glDisable(GL_CULL_FACE);
    }
    draw_sheets();
    glDisable(GL_POLYGON_OFFSET_FILL);
  }

  void set_light(GLuint program, const Viewpoint& view, const ShadowView& shadows) {
    glUseProgram(program);
    set(program, "to_clip", view.to_clip());
    set(program, "eye", view.eye);
    set(program, "sun", view.sun);
    set(program, "to_shadow", shadows.to_map);
    set(program, "texel", 1.0 / shadow_map_.size);
    set(program, "texel_size", shadows.texel_size);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, shadow_map_.depth);
    glUniform1i(glGetUniformLocation(program, "shadow_map"), 0);
  }

  void draw_bodies(const Viewpoint& view, const ShadowView& shadows, const Instances& instances, bool translucent) {
    for (const GLuint program : {GLuint(tiny_), GLuint(bodies_)}) {
      set_light(program, view, shadows);
      glUniform3fv(glGetUniformLocation(program, "paper"), 1, horizon.data());
    }
    if (translucent) {
      glEnable(GL_BLEND);
      glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
      glDepthMask(GL_FALSE);
    }
    if (!translucent) draw_sheets();  // with the program that was set last
    for (const Batch& batch : instances.batches) {
      if (batch.translucent != translucent || batch.inside) continue;
      glUseProgram(batch.tiny ? tiny_ : bodies_);
      if (batch.tiny || tree_->meshes[batch.mesh]->closed) glEnable(GL_CULL_FACE);
      if (batch.marker) {  // it lies on the surface and would otherwise be hidden in part
        glEnable(GL_POLYGON_OFFSET_FILL);
        glPolygonOffset(-2.0f, -40.0f);
        glEnable(GL_CULL_FACE);
      }
      draw_batch(batch);
      glDisable(GL_POLYGON_OFFSET_FILL);
      glDisable(GL_CULL_FACE);
    }
    glDisable(GL_BLEND);
    glDepthMask(GL_TRUE);
  }

  void draw_grounds(const Viewpoint& view, const ShadowView& shadows) {
    for (const Ground& ground : tree_->grounds) {
      const Vec3 normal = ground.pose.rotation * Vec3{0, 0, 1};
      const Vec3 origin = ground.pose.position - view.target;
      if (dot(view.eye - origin, normal) <= 0) continue;  // seen from below, a ground is not drawn
      const double reach = 0.7 * view.far;
      const Vec3 foot = -normal * dot(-origin, normal);  // the point of the ground below the target
      if (const auto patch = shadows.patch_on(origin, normal))
        draw_ground(shadowed_ground_, ground, view, shadows, patch->centre, patch->along_x, patch->along_y);
      glEnable(GL_POLYGON_OFFSET_FILL);  // behind the part with the shadows
      glPolygonOffset(1.0f, 16.0f);
      draw_ground(open_ground_, ground, view, shadows, foot, ground.pose.rotation * Vec3{reach, 0, 0},
                  ground.pose.rotation * Vec3{0, reach, 0});
      glDisable(GL_POLYGON_OFFSET_FILL);
    }
  }

  // A parallelogram of a ground.
  void draw_ground(GLuint program, const Ground& ground, const Viewpoint& view, const ShadowView& shadows,
                   const Vec3& centre, const Vec3& along_x, const Vec3& along_y) {
    set_light(program, view, shadows);
    const Quat to_ground = ground.pose.rotation.conjugate();
    const Vec3 normal = ground.pose.rotation * Vec3{0, 0, 1};
    const auto set_plane = [&](const char* name, const Vec3& v) {
      glUniform2f(glGetUniformLocation(program, name), to_float(v.x), to_float(v.y));
    };
    const Vec3 own = to_ground * (centre - (ground.pose.position - view.target));
    set_plane("first", {std::fmod(own.x, 10), std::fmod(own.y, 10), 0});
    set_plane("to_x", to_ground * along_x);
    set_plane("to_y", to_ground * along_y);
    set(program, "centre", centre);
    set(program, "along_x", along_x);
    set(program, "along_y", along_y);
    set(program, "normal", normal);
    set(program, "sunny", ground_on_screen(ground.color, normal, std::max(dot(normal, view.sun), 0.0)));
    set(program, "shady", ground_on_screen(ground.color, normal, 0));
    glUniform3fv(glGetUniformLocation(program, "horizon"), 1, horizon.data());
    set(program, "fade", 2.2 * view.distance);
    glUniform1i(glGetUniformLocation(program, "grid"), settings_.grid ? 1 : 0);
    glBindVertexArray(empty_);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
  }

  void draw_sky(const Viewpoint& view) {
    // A camera that looks down sees no sky; the canvas was cleared with the colour of the horizon.
    double highest = -1;
    for (const double x : {-1.0, 1.0})
      for (const double y : {-1.0, 1.0})
        highest = std::max(highest, (view.forward + view.right * (x * view.tan_x) + view.up * (y * view.tan_y)).z);
    if (highest <= 0) return;
    glUseProgram(sky_);
    set(sky_, "forward", view.forward);
    set(sky_, "right", view.right * view.tan_x);
    set(sky_, "up", view.up * view.tan_y);
    glUniform3fv(glGetUniformLocation(sky_, "horizon"), 1, horizon.data());
    glUniform3fv(glGetUniformLocation(sky_, "zenith"), 1, zenith.data());
    glBindVertexArray(empty_);
    glDrawArrays(GL_TRIANGLES, 0, 3);
  }

  void draw_marks_inside(const Viewpoint& view, const Instances& instances) {
    glUseProgram(marks_);
    set(marks_, "to_clip", view.to_clip());
    set(marks_, "eye", view.eye);
    glDepthMask(GL_FALSE);
    glEnable(GL_CULL_FACE);  // of the two docks of a pair, draw only the one that faces the camera
    glEnable(GL_BLEND);
    glBlendFunc(GL_CONSTANT_ALPHA, GL_ONE_MINUS_CONSTANT_ALPHA);
    glBlendColor(0, 0, 0, 0.4f);
    for (const Batch& batch : instances.batches)
      if (batch.inside) draw_batch(batch);
    glDisable(GL_BLEND);
    glDisable(GL_CULL_FACE);
    glDepthMask(GL_TRUE);
  }

  void draw_lines(const Viewpoint& view, const std::vector<LineVertex>& vertices) {
    if (vertices.empty()) return;
    glUseProgram(lines_);
    set(lines_, "to_clip", view.to_clip());
    glBindVertexArray(line_array_);
    glBindBuffer(GL_ARRAY_BUFFER, line_buffer_);
    glBufferData(GL_ARRAY_BUFFER, vertices.size() * sizeof(LineVertex), vertices.data(), GL_STREAM_DRAW);
    glEnableVertexAttribArray(0);
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, sizeof(LineVertex), nullptr);
    glEnableVertexAttribArray(1);
    glVertexAttribPointer(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, sizeof(LineVertex),
                          reinterpret_cast<const void*>(offsetof(LineVertex, color)));
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    glDrawArrays(GL_TRIANGLES, 0, narrow<GLsizei>(vertices.size()));
    glDisable(GL_BLEND);
  }

  Image read_back() {
    glBindFramebuffer(GL_READ_FRAMEBUFFER, canvas_.framebuffer);
    if (samples_ > 0) {
      glBindFramebuffer(GL_DRAW_FRAMEBUFFER, resolved_.framebuffer);
      glBlitFramebuffer(0, 0, canvas_.width, canvas_.height, 0, 0, canvas_.width, canvas_.height, GL_COLOR_BUFFER_BIT,
                        GL_NEAREST);
      glBindFramebuffer(GL_READ_FRAMEBUFFER, resolved_.framebuffer);
    }
    const std::size_t width = canvas_.width, height = canvas_.height;
    raw_.resize(4 * width * height);
    glReadPixels(0, 0, canvas_.width, canvas_.height, GL_RGBA, GL_UNSIGNED_BYTE, raw_.data());
    Image image{canvas_.width, canvas_.height, std::vector<std::uint8_t>(3 * width * height)};
    for (std::size_t y = 0; y < height; ++y) {  // OpenGL's first row is the lowest
      const std::uint8_t* from = &raw_[4 * width * (height - 1 - y)];
      std::uint8_t* to = &image.pixels[3 * width * y];
      for (std::size_t x = 0; x < width; ++x)
        to[3 * x] = from[4 * x], to[3 * x + 1] = from[4 * x + 1], to[3 * x + 2] = from[4 * x + 2];
    }
    return image;
  }

  static void set(GLuint program, const char* name, const Matrix& m) {
    glUniformMatrix4fv(glGetUniformLocation(program, name), 1, GL_FALSE, m.data());
  }
  static void set(GLuint program, const char* name, double x) {
    glUniform1f(glGetUniformLocation(program, name), to_float(x));
  }
  static void set(GLuint program, const char* name, const Vec3& v) {
    glUniform3fv(glGetUniformLocation(program, name), 1, to_floats(v).data());
  }

  PictureSettings settings_;
  RenderEngineInfo info_;
  std::unique_ptr<GlContext> context_;  // declared first, so that it outlives the OpenGL objects below
  int samples_ = 0;
  Canvas canvas_, resolved_;
  ShadowMap shadow_map_;
  Program bodies_, tiny_, shadows_, open_ground_, shadowed_ground_, sky_, lines_, marks_;
  VertexArray empty_, line_array_;
  Buffer instances_, line_buffer_;
  UploadedLevel sheets_;          // of this frame
  std::unique_ptr<Water> water_;  // null until there is some

  std::shared_ptr<const RenderTree> tree_;
  std::vector<UploadedMesh> meshes_;  // by mesh of the tree, by level
  Frame frame_;
  EdgeSmoother edges_;
  std::vector<std::uint8_t> raw_;  // pixels in OpenGL's layout; the memory is reused
};

}  // namespace

Result<PictureSettings> PictureSettings::read(const Parameters& parameters) {
  PictureSettings settings;
  settings.width = narrow<int>(parameters.integer("width", settings.width, smallest, largest));
  settings.height = narrow<int>(parameters.integer("height", settings.height, smallest, largest));
  settings.detail = parameters.number("detail", settings.detail, 0.01, 1000);
  settings.samples = narrow<int>(parameters.integer("samples", settings.detail > 1 ? settings.samples : 0, 0, 16));
  const std::string docks = parameters.text("docks", "state");
  settings.rays = parameters.flag("rays", settings.rays);
  settings.messages = parameters.flag("messages", settings.messages);
  settings.grid = parameters.flag("grid", settings.grid);
  settings.scale_bar = parameters.flag("scale_bar", settings.scale_bar);
  if (auto good = parameters.check(); !good.ok()) return good.error();
  if (docks == "none") settings.docks = DockMarks::hidden;
  else if (docks == "load") settings.docks = DockMarks::load;
  else if (docks != "state")
    return Error(fmt::format("'{}' is not a way to draw docks", docks), "use none, state or load");
  return settings;
}

Result<std::unique_ptr<RenderEngine>> make_picture_engine(const PictureSettings& settings) {
  auto engine = std::make_unique<PictureEngine>(settings);
  if (auto started = engine->start(); !started.ok()) return started.error();
  return std::unique_ptr<RenderEngine>(std::move(engine));
}

}  // namespace volvox::view::picture
