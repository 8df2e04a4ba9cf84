// OpenGL without a display: EGL's surfaceless platform, or the first EGL device. A context may be current on one
// thread at a time.
#pragma once

#include <memory>
#include <string>

#include "volvox/base/result.h"

namespace volvox::view::picture {

class GlContext {
 public:
  // OpenGL 3.3 core. The error says what is missing and which package to install.
  static Result<std::unique_ptr<GlContext>> create();
  ~GlContext();
  GlContext(const GlContext&) = delete;
  GlContext& operator=(const GlContext&) = delete;

  // Must be called before any OpenGL call of this thread.
  void make_current() const;
  const std::string& device() const { return device_; }

 private:
  GlContext() = default;

  void* display_ = nullptr;
  void* context_ = nullptr;
  std::string device_;
};

}  // namespace volvox::view::picture
