#include "plugin/serve/compile_process.h"

#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"

namespace hpu::serve {
namespace {

constexpr std::chrono::milliseconds kLastMoment(2000);
constexpr std::chrono::milliseconds kStep(5);

// What a child is to have otherwise than this thread, whose signals may all be blocked.
class SpawnSettings {
 public:
  explicit SpawnSettings(int socket) {
    posix_spawn_file_actions_init(&actions_);
    // Nobody who reads the server's output shall wait for its workers; what they have to say are errors.
    posix_spawn_file_actions_adddup2(&actions_, socket, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, STDERR_FILENO, STDOUT_FILENO);
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setpgroup(&attributes_, 0);  // out of the terminal's foreground: Ctrl-C is the server's
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<CompileProcess>> CompileProcess::Start(const std::vector<std::string>& command) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return absl::UnavailableError(absl::StrCat("no socket for a compile worker: ", std::strerror(errno)));
  }
  files::FileDescriptor ours(sockets[0]);
  const files::FileDescriptor theirs(sockets[1]);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const SpawnSettings settings(theirs.get());
  pid_t pid = 0;
  // Not fork(): this process has threads, and much memory.
  const int error =
      posix_spawn(&pid, arguments[0], settings.actions(), settings.attributes(), arguments.data(), environ);
  if (error != 0) {
    return absl::UnavailableError(
        absl::StrCat("the compile worker ", command[0], " cannot be started: ", std::strerror(error)));
  }
  return std::unique_ptr<CompileProcess>(new CompileProcess(pid, std::move(ours)));
}

CompileProcess::CompileProcess(pid_t pid, files::FileDescriptor socket) : pid_(pid), socket_(std::move(socket)) {}

CompileProcess::~CompileProcess() {
  if (HasEnded()) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

bool CompileProcess::HasEnded() {
  if (status_.has_value()) return true;
  int status = 0;
  const pid_t ended = waitpid(pid_, &status, WNOHANG);
  // Somebody else waits for all children of this process: it has ended, who knows how.
  if (ended == pid_ || (ended < 0 && errno == ECHILD)) status_ = status;
  return status_.has_value();
}

std::string CompileProcess::End() {
  for (auto waited = std::chrono::milliseconds(0); !HasEnded() && waited < kLastMoment; waited += kStep) {
    std::this_thread::sleep_for(kStep);
  }
  if (!HasEnded()) {
    kill(pid_, SIGKILL);
    int status = 0;
    waitpid(pid_, &status, 0);
    status_ = status;
  }
  if (WIFSIGNALED(*status_)) {
    return absl::StrCat("signal ", WTERMSIG(*status_), " (", strsignal(WTERMSIG(*status_)), ")");
  }
  return absl::StrCat("exit code ", WEXITSTATUS(*status_));
}

}  // namespace hpu::serve
