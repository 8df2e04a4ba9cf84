// A page that is written again and again, live in browsers, behind the viewer's token.
#pragma once

#include <filesystem>
#include <memory>

#include "volvox/base/platform/child_process.h"
#include "volvox/cli/commands.h"

namespace volvox::cli {

// Serves the file from a process of its own, so that this one has no threads and may fork: it looks at the file twice a
// second and sends what has changed. It ends with the object; what browsers show then stays.
class LivePage {
 public:
  static Result<std::unique_ptr<LivePage>> start(const std::filesystem::path& page, const ViewerArguments& arguments);
  // Leaves browsers the time to get the last page.
  ~LivePage();
  LivePage(const LivePage&) = delete;
  LivePage& operator=(const LivePage&) = delete;

 private:
  LivePage() = default;
  std::unique_ptr<platform::ChildProcess> server_;
};

}  // namespace volvox::cli
