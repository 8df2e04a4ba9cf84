#include "volvox/view/picture/gl_objects.h"

#include <fmt/format.h>

#include <string>

namespace volvox::view::picture {
namespace {

constexpr const char* other_driver = "try another driver, such as LIBGL_ALWAYS_SOFTWARE=1";

Result<GLuint> compile(GLenum kind, const ShaderText& parts) {
  const GLuint shader = glCreateShader(kind);
  glShaderSource(shader, narrow<GLsizei>(parts.size()), parts.data(), nullptr);
  glCompileShader(shader);
  GLint good = 0;
  glGetShaderiv(shader, GL_COMPILE_STATUS, &good);
  if (good) return shader;
  std::string why(2000, '\0');
  GLsizei length = 0;
  glGetShaderInfoLog(shader, narrow<GLsizei>(why.size()), &length, why.data());
  glDeleteShader(shader);
  return Error("the graphics driver rejects a shader: " + why.substr(0, length), other_driver);
}

Result<void> complete(const char* what, int width, int height) {
  const GLenum status = glCheckFramebufferStatus(GL_FRAMEBUFFER);
  if (status == GL_FRAMEBUFFER_COMPLETE) return {};
  return Error(fmt::format("the graphics driver cannot create a {} of {} x {} pixels (status {:#x})", what, width,
                           height, status),
               "ask for a smaller picture");
}

}  // namespace

Result<Program> make_program(const ShaderText& vertex, const ShaderText& fragment) {
  const Result<GLuint> first = compile(GL_VERTEX_SHADER, vertex);
  if (!first.ok()) return first.error();
  const Result<GLuint> second = compile(GL_FRAGMENT_SHADER, fragment);
  if (!second.ok()) {
    glDeleteShader(*first);
    return second.error();
  }
  Program program(glCreateProgram());
  glAttachShader(program, *first);
  glAttachShader(program, *second);
  glLinkProgram(program);
  glDeleteShader(*first);  // the program keeps both shaders alive
  glDeleteShader(*second);
  GLint good = 0;
  glGetProgramiv(program, GL_LINK_STATUS, &good);
  if (!good) return Error("the graphics driver cannot link a shader program", other_driver);
  return program;
}

Result<Canvas> make_canvas(int width, int height, int samples) {
  Canvas canvas;
  canvas.width = width, canvas.height = height;
  canvas.framebuffer = generate<Framebuffer>(glGenFramebuffers);
  glBindFramebuffer(GL_FRAMEBUFFER, canvas.framebuffer);
  const auto attach = [&](Renderbuffer& buffer, GLenum format, GLenum where) {
    buffer = generate<Renderbuffer>(glGenRenderbuffers);
    glBindRenderbuffer(GL_RENDERBUFFER, buffer);
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, format, width, height);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, where, GL_RENDERBUFFER, buffer);
  };
  attach(canvas.color, GL_RGBA8, GL_COLOR_ATTACHMENT0);
  attach(canvas.depth, GL_DEPTH_COMPONENT24, GL_DEPTH_ATTACHMENT);
  if (auto good = complete("canvas", width, height); !good.ok()) return good.error();
  return canvas;
}

Result<ShadowMap> make_shadow_map(int size) {
  ShadowMap map;
  map.size = size;
  map.depth = generate<Texture>(glGenTextures);
  glBindTexture(GL_TEXTURE_2D, map.depth);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_DEPTH_COMPONENT24, size, size, 0, GL_DEPTH_COMPONENT, GL_FLOAT, nullptr);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_BORDER);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_BORDER);
  const float lit[] = {1, 1, 1, 1};  // outside the map there is no shadow
  glTexParameterfv(GL_TEXTURE_2D, GL_TEXTURE_BORDER_COLOR, lit);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_FUNC, GL_LEQUAL);
  map.framebuffer = generate<Framebuffer>(glGenFramebuffers);
  glBindFramebuffer(GL_FRAMEBUFFER, map.framebuffer);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_TEXTURE_2D, map.depth, 0);
  glDrawBuffer(GL_NONE);
  glReadBuffer(GL_NONE);
  if (auto good = complete("shadow map", size, size); !good.ok()) return good.error();
  return map;
}

}  // namespace volvox::view::picture
