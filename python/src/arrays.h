// NumPy arrays on memory of ours. With the interpreter's lock held.
#pragma once

#include "bindings.h"

#include <pybind11/numpy.h>

#include <memory>
#include <utility>
#include <vector>

namespace volvox::python {

using Shape = std::vector<std::size_t>;

// An array on `data`, row after row, which `owner` keeps as long as somebody looks at the array.
template <class T, class Owner>
py::array_t<T> array_on(const T* data, const Shape& shape, std::shared_ptr<Owner> owner) {
  using Keeper = std::shared_ptr<Owner>;
  const py::capsule keeper(new Keeper(std::move(owner)), [](void* held) { delete static_cast<Keeper*>(held); });
  return py::array_t<T>(shape, data, keeper);
}

// An array of these values, which nobody else has.
template <class T>
py::array_t<T> array_of(std::vector<T> values, const Shape& shape) {
  const auto kept = std::make_shared<std::vector<T>>(std::move(values));
  return array_on(kept->data(), shape, kept);
}

}  // namespace volvox::python
