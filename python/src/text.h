// std::string as str, in place of pybind11's own conversion, which raises UnicodeDecodeError for names of models, files
// and messages that are not UTF-8: such bytes become lone surrogates, as Python's own names of files do (PEP 383), and
// the same str leads back to the same bytes. To be included before pybind11/pybind11.h, which uses the conversion
// itself; bindings.h does it for all. For one thread, with the interpreter's lock held.
#pragma once

#include <pybind11/cast.h>

#include <string>

namespace volvox::python {

// A new reference; null, with a Python exception, where there is no memory.
inline PyObject* text_from(const char* bytes, std::size_t size) {
  return PyUnicode_DecodeUTF8(bytes, static_cast<Py_ssize_t>(size), "surrogateescape");
}

}  // namespace volvox::python

namespace pybind11::detail {

template <>
struct type_caster<std::string> {
  PYBIND11_TYPE_CASTER(std::string, const_name("str"));

  bool load(handle source, bool) {
    if (!source || !PyUnicode_Check(source.ptr())) return false;
    PyObject* bytes = PyUnicode_AsEncodedString(source.ptr(), "utf-8", "surrogateescape");
    char* begin = nullptr;
    Py_ssize_t size = 0;
    const bool good = bytes != nullptr && PyBytes_AsStringAndSize(bytes, &begin, &size) == 0;
    if (good) value.assign(begin, static_cast<std::size_t>(size));
    else PyErr_Clear();
    Py_XDECREF(bytes);
    return good;
  }
  static handle cast(const std::string& value, return_value_policy, handle) {
    PyObject* const text = volvox::python::text_from(value.data(), value.size());
    if (text == nullptr) throw error_already_set();
    return text;
  }
};

}  // namespace pybind11::detail
