// Reads <volvox:fluid>, <volvox:debris>, <volvox:cloth> and <volvox:particles> of a world. Internal to model/.
// SI units; the report must outlive the reader.
// One thread a reader; elements are taken in the order of the file.
#pragma once

#include <filesystem>
#include <memory>

#include "volvox/model/matter.h"
#include "volvox/model/reader.h"
#include "volvox/model/xml.h"

namespace volvox::model {

class MatterReader {
 public:
  MatterReader(std::filesystem::path folder, ModelLibrary& library, Report& report)
      : folder_(std::move(folder)), library_(library), report_(report) {}

  // Whether it is one of these elements; mistakes in it are reported.
  bool read(const XMLElement& e);
  // All of them; null: there were none.
  std::shared_ptr<const Matter> matter() const;

 private:
  void read_fluid(const XMLElement& e);
  void read_debris(const XMLElement& e);
  void read_cloth(const XMLElement& e);
  void read_bounds(const XMLElement& e);
  Color color_of(const XMLElement& e, const Color& fallback);
  Volume volume_of(const XMLElement& e);
  Emitter emitter_of(const XMLElement& e);
  // Volumes, emitters and drains within an element.
  void read_places(const XMLElement& e, std::vector<Volume>& volumes, std::vector<Emitter>& emitters);

  std::filesystem::path folder_;
  ModelLibrary& library_;
  Report& report_;
  Matter matter_;
  bool any_ = false, bounded_ = false;
};

}  // namespace volvox::model
