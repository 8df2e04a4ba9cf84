#include "volvox/view/picture/gl_context.h"

#include <epoxy/egl.h>
#include <epoxy/gl.h>
#include <fmt/format.h>

#include <dlfcn.h>

#include <vector>

namespace volvox::view::picture {
namespace {

constexpr const char* packages =
    "install libegl1 and libgl1-mesa-dri (they draw on the CPU if there is no graphics card)";

// A display of our own, so that other users of EGL in this process (a plugin, a camera) keep theirs.
EGLDisplay open_display() {
  std::vector<EGLDisplay> candidates;
  if (epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_MESA_platform_surfaceless"))
    candidates.push_back(eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr));
  if (epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_platform_device") &&
      epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_device_enumeration")) {
    EGLDeviceEXT device = nullptr;
    EGLint count = 0;
    if (eglQueryDevicesEXT(1, &device, &count) && count > 0)
      candidates.push_back(eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, device, nullptr));
  }
  for (const EGLDisplay display : candidates)
    if (display != EGL_NO_DISPLAY && eglInitialize(display, nullptr, nullptr)) return display;
  return EGL_NO_DISPLAY;
}

}  // namespace

Result<std::unique_ptr<GlContext>> GlContext::create() {
  // epoxy ends the process if libEGL is missing, so check first.
  if (void* library = dlopen("libEGL.so.1", RTLD_LAZY | RTLD_LOCAL)) dlclose(library);
  else return Error("pictures need EGL, and this machine has no libEGL.so.1", packages);

  std::unique_ptr<GlContext> context(new GlContext);
  context->display_ = open_display();
  if (context->display_ == EGL_NO_DISPLAY) return Error("EGL finds no device on this machine that can draw", packages);
  eglBindAPI(EGL_OPENGL_API);
  const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
  EGLConfig config = nullptr;
  EGLint count = 0;
  if (!eglChooseConfig(context->display_, wanted, &config, 1, &count) || count == 0) config = EGL_NO_CONFIG_KHR;
  const EGLint version[] = {
      EGL_CONTEXT_MAJOR_VERSION,           3,       EGL_CONTEXT_MINOR_VERSION, 3, EGL_CONTEXT_OPENGL_PROFILE_MASK,
      EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE};
  context->context_ = eglCreateContext(context->display_, config, EGL_NO_CONTEXT, version);
  if (context->context_ == EGL_NO_CONTEXT)
    return Error(fmt::format("EGL cannot create an OpenGL 3.3 context on this machine (error {:#x})", eglGetError()),
                 packages);
  if (!eglMakeCurrent(context->display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context->context_))
    return Error(fmt::format("EGL cannot draw without a window on this machine (error {:#x})", eglGetError()),
                 packages);
  context->device_ = reinterpret_cast<const char*>(glGetString(GL_RENDERER));
  return context;
}

GlContext::~GlContext() {
  if (display_ == nullptr) return;
  eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  // The display stays initialised: EGL gives the same display to every caller, and a second engine may be drawing
  // on it.
  if (context_ != nullptr) eglDestroyContext(display_, context_);
}

void GlContext::make_current() const {
  if (eglGetCurrentContext() != context_) eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context_);
}

}  // namespace volvox::view::picture
