#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "volvox/base/index.h"
#include "volvox/base/lines.h"
#include "volvox/scan/files.h"

namespace volvox::scan {
namespace {

struct Field {
  std::string name;
  char type = 'F';  // F, I or U
  std::size_t size = 4, count = 1;
  std::size_t offset = 0;  // in a point
};

struct Header {
  std::vector<Field> fields;
  std::uint64_t width = 0, height = 1, points = 0;
  bool has_width = false, has_points = false;
  std::string data;
  std::size_t end = 0;  // the byte after the header
  int lines = 0;
  std::size_t point_size = 0;

  const Field* field(std::string_view name) const {
    for (const Field& f : fields)
      if (f.name == name) return &f;
    return nullptr;
  }
};

constexpr const char* pcd_fix =
    "give a PCD 0.7 file as PCL writes it: FIELDS, SIZE, TYPE, COUNT, WIDTH, HEIGHT, POINTS, DATA";

// Sets one entry for each field from the words after SIZE, TYPE or COUNT.
template <class Set>
bool set_fields(Words& words, std::vector<Field>& fields, Set set) {
  for (Field& field : fields)
    if (!set(words, field)) return false;
  return words.at_end();
}

Result<Header> parse_header(std::string_view bytes, const std::string& file) {
  Header header;
  Lines lines(bytes);
  std::string_view line;
  while (header.data.empty()) {
    if (!lines.next(line)) return Diagnostic{file, lines.number(), "the header ends before DATA", pcd_fix};
    const auto bad = [&](std::string what) { return Diagnostic{file, lines.number(), std::move(what), pcd_fix}; };
    if (line.starts_with('#')) continue;
    Words words(line);
    const std::string_view key = words.next();
    bool good = true;
    if (key.empty() || key == "VERSION" || key == "VIEWPOINT") {
    } else if (key == "FIELDS" || key == "COLUMNS") {
      for (std::string_view name = words.next(); !name.empty(); name = words.next())
        header.fields.push_back({.name = std::string(name)});
      good = !header.fields.empty() && header.fields.size() <= 1000;
    } else if (key == "SIZE") {
      good = set_fields(words, header.fields, [](Words& w, Field& f) {
        const auto size = w.number<std::size_t>();
        f.size = size.value_or(0);
        return f.size == 1 || f.size == 2 || f.size == 4 || f.size == 8;
      });
    } else if (key == "TYPE") {
      good = set_fields(words, header.fields, [](Words& w, Field& f) {
        const std::string_view type = w.next();
        f.type = type.empty() ? ' ' : type[0];
        return type == "F" || type == "I" || type == "U";
      });
    } else if (key == "COUNT") {
      good = set_fields(words, header.fields, [](Words& w, Field& f) {
        f.count = w.number<std::size_t>().value_or(0);
        return f.count >= 1 && f.count <= 10000;
      });
    } else if (key == "WIDTH") {
      const auto n = words.number<std::uint64_t>();
      good = header.has_width = n.has_value();
      header.width = n.value_or(0);
    } else if (key == "HEIGHT") {
      const auto n = words.number<std::uint64_t>();
      good = n.has_value();
      header.height = n.value_or(0);
    } else if (key == "POINTS") {
      const auto n = words.number<std::uint64_t>();
      good = header.has_points = n.has_value();
      header.points = n.value_or(0);
    } else if (key == "DATA") {
      header.data = words.next();
      good = header.data == "ascii" || header.data == "binary" || header.data == "binary_compressed";
    } else {
      return bad(fmt::format("'{}' is not an entry of a PCD header", key.substr(0, 40)));
    }
    if (!good) return bad(fmt::format("the entry {} cannot be understood", key));
  }
  header.end = lines.position();
  header.lines = lines.number();
  const auto bad = [&](std::string what) { return Diagnostic{file, header.lines, std::move(what), pcd_fix}; };
  if (!header.has_points) {
    if (!header.has_width) return bad("the header has neither POINTS nor WIDTH");
    if (header.height != 0 && header.width > UINT64_MAX / header.height) return bad("WIDTH times HEIGHT is too large");
    header.points = header.width * header.height;
  }
  for (Field& field : header.fields) {
    field.offset = header.point_size;
    header.point_size += field.size * field.count;
    if (field.type == 'F' && field.size < 4)
      return bad(fmt::format("the field {} is a float of {} bytes", field.name, field.size));
  }
  for (const char* name : {"x", "y", "z"}) {
    const Field* field = header.field(name);
    if (field == nullptr) return bad(fmt::format("there is no field {}", name));
    if (field->count != 1) return bad(fmt::format("the field {} has {} values a point", name, field->count));
  }
  return header;
}

template <class T>
double load_as(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return static_cast<double>(value);
}

double load(const Field& field, const char* bytes) {
  if (field.type == 'F') return field.size == 8 ? load_as<double>(bytes) : load_as<float>(bytes);
  const bool is_signed = field.type == 'I';
  switch (field.size) {
    case 1: return is_signed ? load_as<std::int8_t>(bytes) : load_as<std::uint8_t>(bytes);
    case 2: return is_signed ? load_as<std::int16_t>(bytes) : load_as<std::uint16_t>(bytes);
    case 4: return is_signed ? load_as<std::int32_t>(bytes) : load_as<std::uint32_t>(bytes);
    default: return is_signed ? load_as<std::int64_t>(bytes) : load_as<std::uint64_t>(bytes);
  }
}

Rgb unpack(std::uint32_t rgb) {
  const auto byte = [&](int shift) -> std::uint8_t { return rgb >> shift & 0xff; };
  return {byte(16), byte(8), byte(0)};
}

// LZF compression, as in PCL: runs of literal bytes, and copies of bytes up to 8 kB before.
Result<std::string> unpack_lzf(std::string_view packed, std::size_t size, const std::string& file,
                               std::size_t first_byte) {
  const auto broken = [&](std::size_t at) {
    return Diagnostic{file, 0, fmt::format("the compressed data are damaged at byte {}", first_byte + at),
                      "copy or write the file again"};
  };
  std::string out;
  out.reserve(size);
  std::size_t in = 0;
  const auto next = [&]() -> unsigned char { return packed[in++]; };
  while (in < packed.size()) {
    const unsigned char control = next();
    if (control < 32) {
      const std::size_t run = control + 1u;
      if (packed.size() - in < run || size - out.size() < run) return broken(in);
      out.append(packed.substr(in, run));
      in += run;
      continue;
    }
    std::size_t run = control >> 5;
    if (run == 7) {
      if (in >= packed.size()) return broken(in);
      run += next();
    }
    run += 2;
    if (in >= packed.size()) return broken(in);
    const std::size_t back = ((control & 31u) << 8 | next()) + 1;
    if (back > out.size() || size - out.size() < run) return broken(in);
    for (std::size_t i = 0; i < run; ++i) out.push_back(out[out.size() - back]);
  }
  if (out.size() != size) return broken(in);
  return out;
}

class Collector {
 public:
  void add(const Vec3& point, const Rgb* color) {
    ++seen_;
    if (!finite(point) || length_squared(point) > 1e16) return;
    reading_.cloud.points.push_back(point);
    if (color != nullptr) reading_.cloud.colors.push_back(*color);
  }
  CloudReading finish() {
    if (const std::size_t lost = seen_ - reading_.cloud.points.size(); lost > 0)
      reading_.repairs.push_back(fmt::format("{} of {} points were not finite and were left out", lost, seen_));
    return std::move(reading_);
  }

 private:
  CloudReading reading_;
  std::size_t seen_ = 0;
};

Result<CloudReading> parse_ascii(const Header& header, std::string_view bytes, const std::string& file) {
  Collector collector;
  Lines lines(bytes.substr(header.end));
  std::string_view line;
  const Field* color = header.field("rgb") != nullptr ? header.field("rgb") : header.field("rgba");
  std::uint64_t read = 0;
  while (read < header.points && lines.next(line)) {
    if (Words(line).at_end()) continue;
    Words words(line);
    Vec3 point;
    Rgb rgb;
    for (const Field& field : header.fields) {
      for (std::size_t i = 0; i < field.count; ++i) {
        Words again = words;
        const auto value = words.number<double>();
        if (!value) {
          return Diagnostic{
              file, header.lines + lines.number(),
              fmt::format("'{}' is not a number for the field {}", again.next().substr(0, 40), field.name),
              "give every point one number for each field"};
        }
        if (field.name == "x") point.x = *value;
        if (field.name == "y") point.y = *value;
        if (field.name == "z") point.z = *value;
        if (&field == color && i == 0)
          rgb = unpack(field.type == 'F' ? std::bit_cast<std::uint32_t>(to_float(*value))
                       : *value > 0      ? truncated<std::uint32_t>(std::min(*value, 4294967295.0))
                                         : 0);
      }
    }
    collector.add(point, color != nullptr ? &rgb : nullptr);
    ++read;
  }
  if (read < header.points) {
    return Diagnostic{file, header.lines + lines.number(),
                      fmt::format("the file is cut off: {} of {} points", read, header.points),
                      "copy or write the file again, or correct POINTS"};
  }
  return collector.finish();
}

// `at(field, point)` returns the bytes of a value.
template <class At>
CloudReading collect(const Header& header, At at) {
  Collector collector;
  const Field &x = *header.field("x"), &y = *header.field("y"), &z = *header.field("z");
  const Field* color = header.field("rgb") != nullptr ? header.field("rgb") : header.field("rgba");
  if (color != nullptr && color->size != 4) color = nullptr;
  for (std::uint64_t i = 0; i < header.points; ++i) {
    Rgb rgb;
    if (color != nullptr) {
      std::uint32_t packed;
      std::memcpy(&packed, at(*color, i), 4);
      rgb = unpack(packed);
    }
    collector.add({load(x, at(x, i)), load(y, at(y, i)), load(z, at(z, i))}, color != nullptr ? &rgb : nullptr);
  }
  return collector.finish();
}

}  // namespace

Result<CloudReading> parse_pcd(std::string_view bytes, const std::string& file) {
  const auto header = parse_header(bytes, file);
  if (!header.ok()) return header.error();
  if (header->points == 0) return Diagnostic{file, header->lines, "the cloud is empty", "give a cloud with points"};
  if (header->data == "ascii") return parse_ascii(*header, bytes, file);

  const std::string_view data = bytes.substr(header->end);
  const auto cut_off = [&](std::uint64_t needed) {
    return Diagnostic{file, 0,
                      fmt::format("the file is cut off: {} points need {} bytes after byte {}, there are {}",
                                  header->points, needed, header->end, data.size()),
                      "copy or write the file again"};
  };
  if (header->points > UINT64_MAX / header->point_size) return cut_off(UINT64_MAX);
  const std::uint64_t size = header->points * header->point_size;
  if (header->data == "binary") {
    if (data.size() < size) return cut_off(size);
    return collect(*header, [&](const Field& field, std::uint64_t i) {
      return data.data() + i * header->point_size + field.offset;
    });
  }
  std::array<std::uint32_t, 2> sizes{};  // compressed, uncompressed
  if (data.size() < 8) return cut_off(8);
  std::memcpy(sizes.data(), data.data(), 8);
  if (data.size() - 8 < sizes[0]) return cut_off(8 + std::uint64_t{sizes[0]});
  // Three bytes of LZF expand to 264 at most: a header with a larger size is wrong and would allocate much memory.
  if (sizes[1] != size || size / 88 > sizes[0]) {
    return Diagnostic{file, 0,
                      fmt::format("{} points of {} bytes are not the {} uncompressed bytes that byte {} promises",
                                  header->points, header->point_size, sizes[1], header->end + 4),
                      "copy or write the file again"};
  }
  const auto unpacked = unpack_lzf(data.substr(8, sizes[0]), sizes[1], file, header->end + 8);
  if (!unpacked.ok()) return unpacked.error();
  // Compressed data have all x, then all y, ...
  return collect(*header, [&](const Field& field, std::uint64_t i) {
    return unpacked->data() + field.offset * header->points + i * field.size * field.count;
  });
}

}  // namespace volvox::scan
