// std::string as str. In place of nanobind/stl/string.h, which raises UnicodeDecodeError for names of models, files and
// messages that are not UTF-8: such bytes become lone surrogates, as Python's own names of files do (PEP 383), and the
// same str leads back to the same bytes. For one thread, with the interpreter's lock held.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace volvox::python {

// A new reference; null, with a Python exception, where there is no memory.
inline PyObject* text_from(const char* bytes, std::size_t size) {
  return PyUnicode_DecodeUTF8(bytes, static_cast<Py_ssize_t>(size), "surrogateescape");
}

}  // namespace volvox::python

namespace nanobind::detail {

template <>
struct type_caster<std::string> {
  NB_TYPE_CASTER(std::string, const_name("str"))

  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    if (!PyUnicode_Check(source.ptr())) return false;
    PyObject* bytes = PyUnicode_AsEncodedString(source.ptr(), "utf-8", "surrogateescape");
    char* begin = nullptr;
    Py_ssize_t size = 0;
    const bool good = bytes != nullptr && PyBytes_AsStringAndSize(bytes, &begin, &size) == 0;
    if (good) value.assign(begin, static_cast<std::size_t>(size));
    else PyErr_Clear();
    Py_XDECREF(bytes);
    return good;
  }
  static handle from_cpp(const std::string& value, rv_policy, cleanup_list*) noexcept {
    return volvox::python::text_from(value.data(), value.size());
  }
};

}  // namespace nanobind::detail
