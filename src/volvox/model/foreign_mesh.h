// Reads meshes in formats that have no reader of our own (DAE, glTF, ...) by Assimp, in a child process: Assimp crashes
// or does not end for some files. Internal to model/.
// Lengths are as Assimp gives them; the caller scales them. The result is the caller's.
// Any thread may call it; the child is gone when it returns. What Assimp makes of a file depends on its version.
#pragma once

#include <string>
#include <string_view>

#include "volvox/base/result.h"
#include "volvox/model/shape.h"

namespace volvox::model {

// The child has the bytes of the file and can open no other; its time and memory are limited. `kind`: the ending of the
// file's name, such as "dae". With `part`, only the mesh or node of that name. Checked: what comes back is a valid
// mesh.
Result<MeshData> read_foreign_mesh(std::string_view bytes, const std::string& kind, const std::string& file,
                                   const std::string& part);

}  // namespace volvox::model
