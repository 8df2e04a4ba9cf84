// What the files of the extension share: the binding functions, and errors that become Python exceptions.
// All functions are to be called with the interpreter's lock held, unless they say otherwise.
#pragma once

#include "text.h"

#include <pybind11/pybind11.h>

#include <exception>
#include <string>

#include "volvox/base/result.h"

namespace volvox::python {

namespace py = pybind11;

// The classes of python/volvox/errors.py.
enum class Kind { input, run, closed, busy, state };

// Becomes the Python exception of its kind, with the diagnostics: file, line, what is wrong and what to do.
class Failure : public std::exception {
 public:
  Failure(Kind kind, Error error) : kind_(kind), error_(std::move(error)), text_(error_.text()) {}
  Failure(Kind kind, std::string what, std::string fix) : Failure(kind, Error(std::move(what), std::move(fix))) {}
  const char* what() const noexcept override { return text_.c_str(); }
  Kind kind() const { return kind_; }
  const Error& error() const { return error_; }

 private:
  Kind kind_;
  Error error_;
  std::string text_;
};

template <class T>
T value_or_throw(Result<T> result, Kind kind = Kind::input) {
  if (!result.ok()) throw Failure(kind, result.error());
  return std::move(*result);
}
inline void check(const Result<void>& result, Kind kind = Kind::input) {
  if (!result.ok()) throw Failure(kind, result.error());
}

void bind_errors(py::module_& module);
void bind_world(py::module_& module);
void bind_agent(py::module_& module);
void bind_recording(py::module_& module);
void bind_population(py::module_& module);

}  // namespace volvox::python
