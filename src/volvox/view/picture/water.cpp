#include "volvox/view/picture/water.h"

#include "volvox/view/picture/water_shaders.h"

namespace volvox::view::picture {
namespace {

constexpr float nothing = 1e9f;      // m
constexpr double drop_radius = 0.7;  // of the size of a drop: neighbours overlap and leave no gaps

struct Drop {
  std::array<float, 4> place;  // relative to the camera's target; w: radius
  Rgba color;
};

void set(GLuint program, const char* name, const Vec3& v) {
  glUniform3fv(glGetUniformLocation(program, name), 1, to_floats(v).data());
}
void set(GLuint program, const char* name, double x) { glUniform1f(glGetUniformLocation(program, name), to_float(x)); }
void bind(GLuint program, const char* name, int unit, GLuint texture) {
  glActiveTexture(GL_TEXTURE0 + unit);
  glBindTexture(GL_TEXTURE_2D, texture);
  glUniform1i(glGetUniformLocation(program, name), unit);
}

}  // namespace

Result<Water::Layer> Water::make_layer(GLint format, GLenum parts, bool with_depth) const {
  Layer layer;
  layer.framebuffer = generate<Framebuffer>(glGenFramebuffers);
  glBindFramebuffer(GL_FRAMEBUFFER, layer.framebuffer);
  const auto attach = [&](Texture& texture, GLint kind, GLenum numbers, GLenum where) {
    texture = generate<Texture>(glGenTextures);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexImage2D(GL_TEXTURE_2D, 0, kind, width_, height_, 0, numbers, GL_FLOAT, nullptr);
    for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
      glTexParameteri(GL_TEXTURE_2D, filter, where == GL_COLOR_ATTACHMENT0 ? GL_LINEAR : GL_NEAREST);
    for (const GLenum wrap : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T})
      glTexParameteri(GL_TEXTURE_2D, wrap, GL_CLAMP_TO_EDGE);
    glFramebufferTexture2D(GL_FRAMEBUFFER, where, GL_TEXTURE_2D, texture, 0);
  };
  attach(layer.color, format, parts, GL_COLOR_ATTACHMENT0);
  if (with_depth) attach(layer.depth, GL_DEPTH_COMPONENT24, GL_DEPTH_COMPONENT, GL_DEPTH_ATTACHMENT);
  if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
    return Error("the graphics driver has no textures of floats, which water is drawn with",
                 "try LIBGL_ALWAYS_SOFTWARE=1");
  return layer;
}

Result<void> Water::start(int width, int height, bool fine) {
  width_ = width, height_ = height, fine_ = fine;
  struct Wanted {
    Layer& layer;
    GLint format;
    GLenum parts;
  };
  for (const Wanted& wanted : {Wanted{behind_, GL_RGBA8, GL_RGBA},
                               {near_[0], GL_RG32F, GL_RG},
                               {near_[1], GL_RG32F, GL_RG},
                               {hue_, GL_RGBA16F, GL_RGBA}}) {
    auto made = make_layer(wanted.format, wanted.parts, &wanted.layer == &behind_);
    if (!made.ok()) return made.error();
    wanted.layer = std::move(*made);
  }
  struct Text {
    Program& program;
    const char *vertex, *fragment;
  };
  for (const Text& text : {Text{drops_, drop_vertex, drop_fragment},
                           {hues_, drop_vertex, hue_fragment},
                           {smooth_, screen_vertex, smooth_fragment},
                           {finish_, screen_vertex, water_fragment}}) {
    auto made = make_program({text.vertex}, {text.fragment});
    if (!made.ok()) return made.error();
    text.program = std::move(*made);
  }
  empty_ = generate<VertexArray>(glGenVertexArrays);
  array_ = generate<VertexArray>(glGenVertexArrays);
  buffer_ = generate<Buffer>(glGenBuffers);
  glBindVertexArray(array_);
  glBindBuffer(GL_ARRAY_BUFFER, buffer_);
  const auto attribute = [](GLuint where, GLenum type, GLboolean normalise, std::size_t offset) {
    glEnableVertexAttribArray(where);
    glVertexAttribPointer(where, 4, type, normalise, sizeof(Drop), reinterpret_cast<const void*>(offset));
    glVertexAttribDivisor(where, 1);
  };
  attribute(0, GL_FLOAT, GL_FALSE, offsetof(Drop, place));
  attribute(1, GL_UNSIGNED_BYTE, GL_TRUE, offsetof(Drop, color));
  return {};
}

GLsizei Water::gather(const sim::CloudLook& look, std::span<const sim::CloudItem> items, const Viewpoint& view) {
  std::vector<Drop> drops;
  const double radius = drop_radius * look.drop_size;
  for (const sim::CloudItem& item : items.first(std::min<std::size_t>(items.size(), look.drops))) {
    const Vec3 at = to_vec(item.position) - view.target;
    if (item.shown <= sim::CloudItem::covered || !view.sees(at, radius)) continue;
    drops.push_back({{to_float(at.x), to_float(at.y), to_float(at.z), to_float(radius)},
                     {item.color[0], item.color[1], item.color[2], 255}});
  }
  glBindBuffer(GL_ARRAY_BUFFER, buffer_);
  glBufferData(GL_ARRAY_BUFFER, drops.size() * sizeof(Drop), drops.data(), GL_STREAM_DRAW);
  return narrow<GLsizei>(drops.size());
}

void Water::set_view(GLuint program, const Viewpoint& view) const {
  glUseProgram(program);
  const Matrix to_clip = view.to_clip();
  glUniformMatrix4fv(glGetUniformLocation(program, "to_clip"), 1, GL_FALSE, to_clip.data());
  set(program, "eye", view.eye);
  set(program, "forward", view.forward);
  set(program, "right", view.right);
  set(program, "up", view.up);
}

void Water::draw(const sim::CloudLook& look, std::span<const sim::CloudItem> items, const Viewpoint& view,
                 const Canvas& canvas, const std::array<float, 3>& horizon, const std::array<float, 3>& zenith) {
  const GLsizei count = gather(look, items, view);
  if (count == 0) return;
  glBindFramebuffer(GL_READ_FRAMEBUFFER, canvas.framebuffer);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, behind_.framebuffer);
  glBlitFramebuffer(0, 0, width_, height_, 0, 0, width_, height_, GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT,
                    GL_NEAREST);
  // Depths, then colours.
  glDisable(GL_DEPTH_TEST);
  glEnable(GL_BLEND);
  glBlendFunc(GL_ONE, GL_ONE);
  glBindVertexArray(array_);
  for (const bool hue : {false, true}) {
    glBindFramebuffer(GL_FRAMEBUFFER, hue ? hue_.framebuffer : near_[0].framebuffer);
    const float empty = hue ? 0 : nothing;
    glClearColor(empty, empty, empty, empty);
    glClear(GL_COLOR_BUFFER_BIT);
    glBlendEquation(hue ? GL_FUNC_ADD : GL_MIN);
    set_view(hue ? hues_ : drops_, view);
    if (hue) bind(hues_, "near", 0, near_[0].color);
    glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, count);
  }
  glBlendEquation(GL_FUNC_ADD);
  glDisable(GL_BLEND);
  // The surface.
  glBindVertexArray(empty_);
  glUseProgram(smooth_);
  set(smooth_, "drop", look.drop_size);
  set(smooth_, "pixels", view.pixels_per_tangent);
  glUniform1i(glGetUniformLocation(smooth_, "most"), fine_ ? 40 : 16);
  for (int pass = 0; pass < (fine_ ? 6 : 4); ++pass) {
    glBindFramebuffer(GL_FRAMEBUFFER, near_[1 - pass % 2].framebuffer);
    bind(smooth_, "near", 0, near_[pass % 2].color);
    glUniform2i(glGetUniformLocation(smooth_, "way"), pass % 2 == 0 ? 1 : 0, pass % 2);
    glDrawArrays(GL_TRIANGLES, 0, 3);
  }
  glBindFramebuffer(GL_FRAMEBUFFER, canvas.framebuffer);
  glEnable(GL_DEPTH_TEST);
  set_view(finish_, view);
  set(finish_, "right", view.right * view.tan_x);
  set(finish_, "up", view.up * view.tan_y);
  set(finish_, "sun", view.sun);
  set(finish_, "drop", look.drop_size);
  set(finish_, "color", Vec3{look.fluid_color[0] / 255.0, look.fluid_color[1] / 255.0, look.fluid_color[2] / 255.0});
  glUniform2f(glGetUniformLocation(finish_, "planes"), to_float(view.near), to_float(view.far));
  glUniform3fv(glGetUniformLocation(finish_, "horizon"), 1, horizon.data());
  glUniform3fv(glGetUniformLocation(finish_, "zenith"), 1, zenith.data());
  bind(finish_, "near", 0, near_[0].color);
  bind(finish_, "hue", 1, hue_.color);
  bind(finish_, "behind", 2, behind_.color);
  bind(finish_, "depth", 3, behind_.depth);
  glDrawArrays(GL_TRIANGLES, 0, 3);
  glActiveTexture(GL_TEXTURE0);
}

}  // namespace volvox::view::picture
