// RAII owners of OpenGL objects. The context that made an object must be current whenever it is used or destroyed.
// So all of them belong to one thread, that of the context.
#pragma once

#include <epoxy/gl.h>

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "volvox/base/index.h"
#include "volvox/base/result.h"

namespace volvox::view::picture {

// Owns a name of OpenGL and deletes it.
template <void (*Delete)(GLuint)>
class GlName {
 public:
  GlName() = default;
  explicit GlName(GLuint name) : name_(name) {}
  GlName(GlName&& other) noexcept : name_(std::exchange(other.name_, 0)) {}
  GlName& operator=(GlName&& other) noexcept {
    std::swap(name_, other.name_);
    return *this;
  }
  ~GlName() {
    if (name_ != 0) Delete(name_);
  }
  operator GLuint() const { return name_; }

 private:
  GLuint name_ = 0;
};

inline void delete_buffer(GLuint name) { glDeleteBuffers(1, &name); }
inline void delete_vertex_array(GLuint name) { glDeleteVertexArrays(1, &name); }
inline void delete_framebuffer(GLuint name) { glDeleteFramebuffers(1, &name); }
inline void delete_renderbuffer(GLuint name) { glDeleteRenderbuffers(1, &name); }
inline void delete_texture(GLuint name) { glDeleteTextures(1, &name); }
inline void delete_program(GLuint name) { glDeleteProgram(name); }

using Buffer = GlName<delete_buffer>;
using VertexArray = GlName<delete_vertex_array>;
using Framebuffer = GlName<delete_framebuffer>;
using Renderbuffer = GlName<delete_renderbuffer>;
using Texture = GlName<delete_texture>;
using Program = GlName<delete_program>;

template <class Name, class Generate>
Name generate(Generate make) {
  GLuint name = 0;
  make(1, &name);
  return Name(name);
}

template <class T>
Buffer make_buffer(GLenum target, std::span<const T> data) {
  Buffer buffer = generate<Buffer>(glGenBuffers);
  glBindBuffer(target, buffer);
  glBufferData(target, data.size_bytes(), data.data(), GL_STATIC_DRAW);
  return buffer;
}

// Column-major, as in OpenGL.
using Matrix = std::array<float, 16>;

// The text of a shader is the concatenation of its parts. The error is the compiler's own text, because drivers
// differ in what they accept.
using ShaderText = std::vector<const char*>;
Result<Program> make_program(const ShaderText& vertex, const ShaderText& fragment);

// A framebuffer with colour and depth. Without multisampling `samples` is 0.
struct Canvas {
  Framebuffer framebuffer;
  Renderbuffer color, depth;
  int width = 0, height = 0;
};
Result<Canvas> make_canvas(int width, int height, int samples);

// A depth texture for shadow mapping.
struct ShadowMap {
  Framebuffer framebuffer;
  Texture depth;
  int size = 0;
};
Result<ShadowMap> make_shadow_map(int size);

}  // namespace volvox::view::picture
