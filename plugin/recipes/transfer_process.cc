#include "plugin/recipes/transfer_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/version/contact.h"
#include "plugin/recipes/entry.h"

namespace hpu::recipes {
namespace {

using files::FileDescriptor;

constexpr size_t kMaxHeaderBytes = 64;  // limit for a reply's header and bytes read with the header

absl::Status Ended(absl::string_view why) {
  return absl::UnavailableError(absl::StrCat("the transfer process ended: ", why));
}

absl::Status ProtocolError() {
  return absl::InternalError(
      "the transfer process sent an invalid reply: expected \"OUTCOME SIZE\" and SIZE bytes; " HPU_REPORT_BUG);
}

// Attributes and files of the child: default signals, a separate process group, `socket` as standard input, and output
// to /dev/null. Ctrl-C in a terminal does not signal the separate group.
class SpawnOptions {
 public:
  explicit SpawnOptions(const FileDescriptor& socket) {
    posix_spawnattr_init(&attributes_);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, socket.get(), STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, STDOUT_FILENO, STDERR_FILENO);
  }
  ~SpawnOptions() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnOptions(const SpawnOptions&) = delete;
  SpawnOptions& operator=(const SpawnOptions&) = delete;

  const posix_spawnattr_t* attributes() const { return &attributes_; }
  const posix_spawn_file_actions_t* actions() const { return &actions_; }

 private:
  posix_spawnattr_t attributes_;
  posix_spawn_file_actions_t actions_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<TransferProcess>> TransferProcess::Start(const std::vector<std::string>& command) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return absl::UnavailableError(absl::StrCat(
        "cannot create a socket pair for the transfer process: ", std::strerror(errno), "; raise ulimit -n"));
  }
  FileDescriptor ours(ends[0]);
  const FileDescriptor theirs(ends[1]);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const SpawnOptions options(theirs);
  pid_t pid = 0;
  const int error =
      posix_spawnp(&pid, arguments[0], options.actions(), options.attributes(), arguments.data(), environ);
  if (error != 0) {
    return absl::UnavailableError(absl::StrCat("cannot start the transfer process ", command[0], ": ",
                                               std::strerror(error), "; check that the program exists"));
  }
  return std::unique_ptr<TransferProcess>(new TransferProcess(std::move(ours), pid));
}

TransferProcess::~TransferProcess() {
  socket_ = FileDescriptor();
  // Does not wait. A child that ends later stays a zombie until the program ends.
  waitpid(pid_, nullptr, WNOHANG);
}

absl::StatusOr<TransferReply> TransferProcess::Call(absl::string_view verb, absl::string_view key,
                                                    absl::string_view operand, absl::Time deadline) {
  HPU_RETURN_IF_ERROR(Send(absl::StrCat(verb, " ", key, " ", operand.size(), "\n", operand), deadline));
  char header[kMaxHeaderBytes];
  size_t received = 0;
  const char* end = nullptr;
  while ((end = static_cast<const char*>(std::memchr(header, '\n', received))) == nullptr) {
    if (received == sizeof(header)) return ProtocolError();
    HPU_ASSIGN_OR_RETURN(const size_t got, Receive(header + received, sizeof(header) - received, deadline));
    received += got;
  }
  const std::vector<std::string> words = absl::StrSplit(absl::string_view(header, end - header), ' ');
  uint64_t size = 0;
  if (words.size() != 2 || !absl::SimpleAtoi(words[1], &size) || size > kMaxEntryBytes) return ProtocolError();
  const absl::string_view begun(end + 1, header + received - (end + 1));
  if (begun.size() > size) return ProtocolError();
  TransferReply reply{words[0], std::string(size, '\0')};
  std::memcpy(reply.bytes.data(), begun.data(), begun.size());
  for (size_t done = begun.size(); done < size;) {
    HPU_ASSIGN_OR_RETURN(const size_t got, Receive(reply.bytes.data() + done, size - done, deadline));
    done += got;
  }
  return reply;
}

absl::Status TransferProcess::Send(absl::string_view bytes, absl::Time deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(sent);
    } else if (errno == EAGAIN) {
      HPU_RETURN_IF_ERROR(Await(POLLOUT, deadline));
    } else if (errno != EINTR) {
      return Ended(std::strerror(errno));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> TransferProcess::Receive(char* bytes, size_t max_bytes, absl::Time deadline) {
  while (true) {
    // Checks the deadline before each read, because a sender may never pause.
    HPU_RETURN_IF_ERROR(Await(POLLIN, deadline));
    const ssize_t got = recv(socket_.get(), bytes, max_bytes, MSG_DONTWAIT);
    if (got > 0) return static_cast<size_t>(got);
    if (got == 0) return Ended("it closed the connection");
    if (errno != EAGAIN && errno != EINTR) return Ended(std::strerror(errno));
  }
}

absl::Status TransferProcess::Await(short events, absl::Time deadline) {  // NOLINT(runtime/int)
  while (true) {
    const absl::Duration left = deadline - absl::Now();
    if (left <= absl::ZeroDuration()) {
      return absl::DeadlineExceededError(
          "the transfer process did not reply within the time limit; raise HPU_RECIPE_CACHE_REMOTE_TIMEOUT_S");
    }
    pollfd file = {socket_.get(), events, 0};
    const int64_t milliseconds = absl::ToInt64Milliseconds(absl::Ceil(left, absl::Milliseconds(1)));
    const int ready = poll(&file, 1, static_cast<int>(std::min<int64_t>(milliseconds, 1000)));
    if (ready > 0) return absl::OkStatus();
    if (ready < 0 && errno != EINTR) return Ended(std::strerror(errno));
  }
}

}  // namespace hpu::recipes
