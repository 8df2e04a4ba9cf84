#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "volvox/base/index.h"
#include "volvox/base/lines.h"
#include "volvox/model/mesh_files.h"
#include "volvox/model/triangulate.h"

namespace volvox::model {
namespace {

enum class Format { ascii, little, big };

struct Type {
  char kind = 'f';  // i, u or f
  std::size_t size = 4;
};

struct Property {
  std::string name;
  Type type;
  bool list = false;
  Type count;
};

struct Element {
  std::string name;
  std::uint64_t count = 0;
  std::vector<Property> properties;
};

struct Header {
  Format format = Format::ascii;
  std::vector<Element> elements;
  std::size_t end = 0;
  int lines = 0;
};

bool parse_type(std::string_view name, Type& type) {
  static constexpr struct {
    std::string_view name;
    Type type;
  } types[] = {{"char", {'i', 1}},  {"int8", {'i', 1}},    {"uchar", {'u', 1}},  {"uint8", {'u', 1}},
               {"short", {'i', 2}}, {"int16", {'i', 2}},   {"ushort", {'u', 2}}, {"uint16", {'u', 2}},
               {"int", {'i', 4}},   {"int32", {'i', 4}},   {"uint", {'u', 4}},   {"uint32", {'u', 4}},
               {"float", {'f', 4}}, {"float32", {'f', 4}}, {"double", {'f', 8}}, {"float64", {'f', 8}}};
  for (const auto& known : types) {
    if (known.name == name) {
      type = known.type;
      return true;
    }
  }
  return false;
}

constexpr const char* ply_fix = "give a PLY 1.0 file: format, element vertex N with properties x, y, z, end_header";

Result<Header> parse_header(std::string_view bytes, const std::string& file) {
  Header header;
  Lines lines(bytes);
  std::string_view line;
  if (!lines.next(line) || line != "ply") return Diagnostic{file, 1, "the file does not begin with 'ply'", ply_fix};
  while (true) {
    if (!lines.next(line)) return Diagnostic{file, lines.number(), "the header ends before end_header", ply_fix};
    const auto bad = [&](std::string what) { return Diagnostic{file, lines.number(), std::move(what), ply_fix}; };
    Words words(line);
    const std::string_view key = words.next();
    if (key == "end_header") break;
    if (key.empty() || key == "comment" || key == "obj_info") continue;
    if (key == "format") {
      const std::string_view format = words.next();
      if (format == "ascii") header.format = Format::ascii;
      else if (format == "binary_little_endian") header.format = Format::little;
      else if (format == "binary_big_endian") header.format = Format::big;
      else return bad(fmt::format("the format '{}' is not known", format.substr(0, 40)));
    } else if (key == "element") {
      const std::string_view name = words.next();
      const auto count = words.number<std::uint64_t>();
      if (name.empty() || !count) return bad("an element needs a name and a number");
      header.elements.push_back({std::string(name), *count, {}});
    } else if (key == "property") {
      if (header.elements.empty()) return bad("a property comes before any element");
      Property property;
      std::string_view type = words.next();
      if (type == "list") {
        property.list = true;
        if (!parse_type(words.next(), property.count) || property.count.kind == 'f')
          return bad("a list needs a count of whole numbers");
        type = words.next();
      }
      if (!parse_type(type, property.type)) return bad(fmt::format("the type '{}' is not known", type.substr(0, 40)));
      property.name = words.next();
      header.elements.back().properties.push_back(std::move(property));
    } else {
      return bad(fmt::format("'{}' is not an entry of a PLY header", key.substr(0, 40)));
    }
  }
  header.end = lines.position();
  header.lines = lines.number();
  return header;
}

// Reads the values in sequence, from text or from bytes.
class Values {
 public:
  Values(const Header& header, std::string_view bytes)
      : format_(header.format),
        data_(bytes.substr(header.end)),
        first_byte_(header.end),
        first_line_(header.lines),
        lines_(data_) {}

  // Each row of an ascii file is one line.
  bool begin_row() {
    if (format_ != Format::ascii) return true;
    std::string_view line;
    do {
      if (!lines_.next(line)) return false;
    } while (Words(line).at_end());
    words_ = Words(line);
    return true;
  }
  bool next(const Type& type, double& value) {
    if (format_ == Format::ascii) {
      const auto number = words_.number<double>();
      value = number.value_or(0);
      return number.has_value();
    }
    if (data_.size() - position_ < type.size) return false;
    char raw[8];
    std::memcpy(raw, data_.data() + position_, type.size);
    if (format_ == Format::big) std::reverse(raw, raw + type.size);
    position_ += type.size;
    value = load(type, raw);
    return true;
  }
  // An upper bound for the counts in the file.
  std::size_t bytes_left() const {
    return format_ == Format::ascii ? data_.size() - lines_.position() : data_.size() - position_;
  }
  Diagnostic cut_off(const std::string& file, const Element& element, std::uint64_t row) const {
    const std::string fix = "copy or write the file again";
    if (format_ == Format::ascii)
      return {file, first_line_ + lines_.number(),
              fmt::format("{} {} of {} is cut off or not a number", element.name, row + 1, element.count), fix};
    return {file, 0,
            fmt::format("the file is cut off at byte {}, in {} {} of {}", first_byte_ + position_, element.name,
                        row + 1, element.count),
            fix};
  }

 private:
  static double load(const Type& type, const char* raw) {
    const auto as = [&]<class T>(T value) -> double {
      std::memcpy(&value, raw, sizeof value);
      return value;
    };
    if (type.kind == 'f') return type.size == 8 ? as(double{}) : as(float{});
    const bool is_signed = type.kind == 'i';
    if (type.size == 1) return is_signed ? as(std::int8_t{}) : as(std::uint8_t{});
    if (type.size == 2) return is_signed ? as(std::int16_t{}) : as(std::uint16_t{});
    return is_signed ? as(std::int32_t{}) : as(std::uint32_t{});
  }

  Format format_;
  std::string_view data_;
  std::size_t first_byte_;
  int first_line_;
  Lines lines_;
  Words words_{{}};
  std::size_t position_ = 0;
};

}  // namespace

Result<FileMesh> parse_ply(std::string_view bytes, const std::string& file) {
  const auto header = parse_header(bytes, file);
  if (!header.ok()) return header.error();
  FileMesh mesh;
  Values values(*header, bytes);
  Triangulator triangulator;
  bool has_vertices = false, has_colors = false;
  for (const Element& element : header->elements) {
    const bool vertices = element.name == "vertex", faces = element.name == "face";
    if (element.properties.empty())
      return Diagnostic{file, header->lines, fmt::format("the element {} has no properties", element.name), ply_fix};
    // A row has at least one byte.
    if (element.count > values.bytes_left()) return values.cut_off(file, element, values.bytes_left());
    if (vertices) {
      int coordinates = 0, channels = 0;
      for (const Property& p : element.properties) {
        coordinates += !p.list && (p.name == "x" || p.name == "y" || p.name == "z");
        channels += !p.list && (p.name == "red" || p.name == "green" || p.name == "blue");
      }
      if (coordinates != 3) return Diagnostic{file, header->lines, "the vertices have no x, y and z", ply_fix};
      has_vertices = true;
      has_colors = channels == 3;
    }
    for (std::uint64_t row = 0; row < element.count; ++row) {
      if (!values.begin_row()) return values.cut_off(file, element, row);
      Vec3 point;
      std::array<std::uint8_t, 3> color{};
      std::vector<std::uint32_t> polygon;
      for (const Property& property : element.properties) {
        double count = 1, value = 0;
        if (property.list && !values.next(property.count, count)) return values.cut_off(file, element, row);
        if (!(count >= 0) || count > real(bytes.size())) return values.cut_off(file, element, row);
        const bool corners =
            faces && property.list && (property.name == "vertex_indices" || property.name == "vertex_index");
        for (std::uint64_t i = 0; i < truncated<std::uint64_t>(count); ++i) {
          if (!values.next(property.type, value)) return values.cut_off(file, element, row);
          if (corners) polygon.push_back(value >= 0 && value < 4e9 ? truncated<std::uint32_t>(value) : UINT32_MAX);
        }
        if (!vertices || property.list) continue;
        const double level = property.type.kind == 'f' ? value * 255 : value;
        const std::uint8_t channel = level > 0 ? truncated<std::uint8_t>(std::min(level, 255.0)) : 0;
        if (property.name == "x") point.x = value;
        if (property.name == "y") point.y = value;
        if (property.name == "z") point.z = value;
        if (property.name == "red") color[0] = channel;
        if (property.name == "green") color[1] = channel;
        if (property.name == "blue") color[2] = channel;
      }
      if (vertices) {
        mesh.vertices.push_back(point);
        if (has_colors) mesh.colors.push_back(color);
      }
      if (!triangulator.add(mesh.vertices, polygon, mesh.triangles))
        return Diagnostic{file, 0, Triangulator::too_much, "write it again with triangles"};
    }
  }
  if (!has_vertices) return Diagnostic{file, header->lines, "there is no element vertex", ply_fix};
  return mesh;
}

}  // namespace volvox::model
