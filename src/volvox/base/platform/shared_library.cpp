#include "volvox/base/platform/shared_library.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstdlib>
#include <fstream>
#include <vector>

#include "volvox/base/index.h"
#include "volvox/base/platform/paths.h"

namespace volvox::platform {
namespace {

template <class T>
bool read_at(std::ifstream& file, std::uint64_t position, std::vector<T>& items) {
  file.seekg(narrow<std::streamoff>(position));
  file.read(reinterpret_cast<char*>(items.data()), narrow<std::streamsize>(items.size() * sizeof(T)));
  return file.good();
}

// What of the file is missing; "" if it is all there. The loader maps what the tables of the file name without looking
// at the file's size, so that a half-copied library ends the process with SIGBUS.
std::string missing_part(const std::filesystem::path& name) {
  using Header = ElfW(Ehdr);
  using Segment = ElfW(Phdr);
  using Section = ElfW(Shdr);
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(name, error);
  std::ifstream file(name, std::ios::binary);
  std::vector<Header> header(1);
  if (error || !read_at(file, 0, header) || std::string_view(reinterpret_cast<char*>(&header[0]), SELFMAG) != ELFMAG)
    return "it has no ELF header";
  const Header& h = header[0];
  const auto inside = [&](std::uint64_t at, std::uint64_t bytes) { return at <= size && bytes <= size - at; };
  if (h.e_ident[EI_CLASS] != (sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32) || h.e_type != ET_DYN ||
      h.e_phentsize != sizeof(Segment) || (h.e_shnum > 0 && h.e_shentsize != sizeof(Section)))
    return {};  // of another machine, or no library: the loader says so
  std::vector<Segment> segments(h.e_phnum);
  if (!inside(h.e_phoff, segments.size() * sizeof(Segment)) || !read_at(file, h.e_phoff, segments))
    return "its program headers are missing";
  for (const Segment& segment : segments)
    if (segment.p_type != PT_NULL && !inside(segment.p_offset, segment.p_filesz))
      return "it ends before its segments do";
  // The section table is the last thing in the file. Where the space was reserved first, the file has its full size
  // already, and this part is still zero.
  std::vector<Section> sections(h.e_shnum);
  if (!inside(h.e_shoff, sections.size() * sizeof(Section)) || !read_at(file, h.e_shoff, sections))
    return "it ends before its section table does";
  if (h.e_shstrndx != SHN_UNDEF && h.e_shstrndx < sections.size() && sections[h.e_shstrndx].sh_type != SHT_STRTAB)
    return "its section table is empty";
  return {};
}

}  // namespace

Result<std::shared_ptr<SharedLibrary>> SharedLibrary::open(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error))  // to open a pipe would wait for ever
    return Diagnostic{file.string(), 0, "the shared library cannot be loaded: this is not a file", "give a .so file"};
  if (const std::string missing = missing_part(file); !missing.empty())
    return Diagnostic{file.string(), 0, "the shared library cannot be loaded: " + missing,
                      "copy it again; it is cut off, or no shared library"};
  if (void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL))
    return std::shared_ptr<SharedLibrary>(new SharedLibrary(handle));
  const char* why = dlerror();
  return Diagnostic{file.string(), 0,
                    std::string("the shared library cannot be loaded: ") + (why != nullptr ? why : "unknown reason"),
                    "build it with this version of Volvox, and link all libraries that it needs"};
}

SharedLibrary::~SharedLibrary() { dlclose(handle_); }

void* SharedLibrary::symbol(const char* name) const { return dlsym(handle_, name); }

Result<OptionalLibrary> open_optional_library(const char* variable, const char* name) {
  namespace fs = std::filesystem;
  std::vector<fs::path> places;
  if (const char* given = std::getenv(variable); given != nullptr && *given != 0) {
    places = {given};
  } else {
    const fs::path file = fs::path("volvox") / name, folder = library().parent_path();
    places = {folder / file,
              folder.parent_path() / "lib" / file};  // beside the library; of a program in the build folder
  }
  OptionalLibrary found;
  std::error_code error;
  for (const fs::path& file : places) {
    found.looked += (found.looked.empty() ? "" : ", ") + file.string();
    if (!fs::is_regular_file(file, error)) continue;
    auto opened = SharedLibrary::open(file);
    if (!opened.ok()) return opened.error();
    found.library = *opened, found.file = file;
    break;
  }
  return found;
}

}  // namespace volvox::platform
