#include "volvox/base/platform/child_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

extern char** environ;

namespace volvox::platform {

Result<std::unique_ptr<ChildProgram>> ChildProgram::start(const std::vector<std::string>& arguments) {
  const auto failed = [&](int code) {
    return Error(arguments.front() + " cannot be started: " + std::strerror(code), "check that it is installed");
  };
  // A socket and not a pipe, because writing to a pipe of an ended program would raise SIGPIPE.
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return failed(errno);
  std::unique_ptr<ChildProgram> child(new ChildProgram);
  child->input_ = ends[0];
  // A file and not a pipe, so that it need not be read while the program runs.
  if (std::FILE* file = std::tmpfile()) {
    child->errors_ = fcntl(fileno(file), F_DUPFD_CLOEXEC, 3);
    std::fclose(file);
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  if (child->errors_ >= 0) posix_spawn_file_actions_adddup2(&actions, child->errors_, STDERR_FILENO);
  // A process group of its own, so that Ctrl-C and hangups reach only this process; the program ends after its input.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  pid_t process = -1;
  const int code = posix_spawnp(&process, pointers[0], &actions, &attributes, pointers.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (code != 0) return failed(code);
  child->process_ = process;
  return child;
}

ChildProgram::~ChildProgram() {
  finish();
  if (errors_ >= 0) close(errors_);
}

bool ChildProgram::write(std::span<const std::byte> bytes) {
  while (!bytes.empty() && input_ >= 0) {
    const ssize_t sent = send(input_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes = bytes.subspan(sent);
  }
  return bytes.empty();
}

int ChildProgram::finish() {
  if (input_ >= 0) close(input_);
  input_ = -1;
  if (process_ >= 0 && !status_) {
    int status = 0;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {}
    status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  return status_.value_or(-1);
}

std::string ChildProgram::error_output() const {
  std::string text(4096, '\0');
  const ssize_t count = errors_ >= 0 ? pread(errors_, text.data(), text.size(), 0) : 0;
  text.resize(std::max<ssize_t>(count, 0));
  return text;
}

double ended_children_cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace volvox::platform
