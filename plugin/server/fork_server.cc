#include "plugin/server/fork_server.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hpu/serve/v1/control.pb.h"
#include "plugin/base/files/packet_socket.h"
#include "plugin/base/log/log.h"
#include "plugin/base/status_macros.h"

namespace hpu::serve {
namespace {

namespace control = ::hpu::serve::v1;

constexpr int kEndPollMs = 1000;
constexpr int kKillTimeoutMs = 2000;
constexpr size_t kMaxExitStatuses = 1024;

std::string Describe(int status) {
  if (WIFSIGNALED(status)) return absl::StrCat("signal ", WTERMSIG(status), " (", strsignal(WTERMSIG(status)), ")");
  return absl::StrCat("exit code ", WEXITSTATUS(status));
}

class ForkServer {
 public:
  ForkServer(const files::FileDescriptor& socket, const ChildMain& child_main)
      : socket_(socket), child_main_(child_main) {}

  void Run() {
    if (!Answer({}, getpid()).ok()) return;
    for (;;) {
      pollfd readable = {socket_.get(), POLLIN, 0};
      const int ready = poll(&readable, 1, kEndPollMs);
      Reap();
      if (ready < 1) continue;
      absl::StatusOr<files::Packet> packet = files::ReceivePacket(socket_);
      control::ForkRequest request;
      if (!packet.ok() || !request.ParseFromString(packet->bytes)) return;
      const absl::Status answered =
          request.ended_pid() == 0 ? Fork(std::move(packet->files)) : End(request.ended_pid());
      if (!answered.ok()) return;
    }
  }

 private:
  absl::Status Answer(control::Forked answer, pid_t pid, int pidfd = -1) {
    answer.set_pid(pid);
    return files::SendPacket(socket_, answer.SerializeAsString(),
                             pidfd < 0 ? std::vector<int>() : std::vector<int>{pidfd});
  }

  absl::Status Fork(std::vector<files::FileDescriptor> files) {
    const pid_t pid = fork();
    if (pid == 0) {
      LeaveSocket();
      child_main_(std::move(files));
      EndChild();
    }
    control::Forked answer;
    const files::FileDescriptor pidfd(pid < 0 ? -1 : static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    if (pidfd.valid()) return Answer(std::move(answer), pid, pidfd.get());
    answer.set_error(absl::StrCat(pid < 0 ? "cannot create a process: " : "cannot open a pidfd: ", std::strerror(errno),
                                  "; free memory or raise ulimit -u and ulimit -n"));
    if (pid > 0) kill(pid, SIGKILL);
    return Answer(std::move(answer), -1);
  }

  // Closes the socket in a child. If the socket is standard input, opens /dev/null instead.
  void LeaveSocket() {
    close(socket_.get());
    if (socket_.get() == STDIN_FILENO) static_cast<void>(open("/dev/null", O_RDONLY));
  }

  absl::Status End(pid_t child) {
    constexpr timespec kStep = {0, 5'000'000};
    for (int waited_ms = 0; exit_statuses_.count(child) == 0; waited_ms += 5) {
      if (waited_ms == kKillTimeoutMs && IsChild(child)) kill(child, SIGKILL);
      if (waited_ms > kKillTimeoutMs && !IsChild(child)) break;
      nanosleep(&kStep, nullptr);
      Reap();
    }
    control::Forked answer;
    const auto found = exit_statuses_.find(child);
    answer.set_end(found == exit_statuses_.end() ? "unknown exit status" : found->second);
    return Answer(std::move(answer), child);
  }

  static bool IsChild(pid_t pid) {
    siginfo_t info = {};
    return waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
  }

  void Reap() {
    int status = 0;
    for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (exit_statuses_.size() >= kMaxExitStatuses) exit_statuses_.erase(exit_statuses_.begin());
      exit_statuses_[pid] = Describe(status);
      if (!WIFSIGNALED(status) || WTERMSIG(status) == SIGKILL) continue;
      HPU_LOG(kBackend, kWarning) << "process " << pid << " of the device server ended: " << exit_statuses_[pid];
    }
  }

  const files::FileDescriptor& socket_;
  const ChildMain& child_main_;
  std::map<pid_t, std::string> exit_statuses_;
};

absl::StatusOr<std::pair<control::Forked, files::Packet>> ReceiveAnswer(const files::FileDescriptor& socket) {
  HPU_ASSIGN_OR_RETURN(files::Packet packet, files::ReceivePacket(socket));
  control::Forked answer;
  if (!answer.ParseFromString(packet.bytes)) {
    return absl::DataLossError(absl::StrCat("cannot parse the fork server's answer (", packet.bytes.size(),
                                            " bytes); restart the device server"));
  }
  return std::make_pair(std::move(answer), std::move(packet));
}

}  // namespace

void RunForkServer(const files::FileDescriptor& socket, const ChildMain& child_main) {
  ForkServer(socket, child_main).Run();
}

void EndChild() { _exit(0); }

void ReportForkServerError(const files::FileDescriptor& socket, const absl::Status& error) {
  control::Forked answer;
  answer.set_pid(-1);
  answer.set_error(std::string(error.message()));
  files::SendPacket(socket, answer.SerializeAsString()).IgnoreError();  // the front process may be gone
}

absl::Status ForkClient::AwaitReady() {
  std::lock_guard<std::mutex> lock(mutex_);
  HPU_ASSIGN_OR_RETURN(const auto answer, ReceiveAnswer(socket_));
  if (answer.first.error().empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(answer.first.error());
}

absl::StatusOr<ForkClient::Child> ForkClient::Fork(const files::FileDescriptor& file) {
  control::ForkRequest request;
  request.set_present(true);
  std::lock_guard<std::mutex> lock(mutex_);
  HPU_RETURN_IF_ERROR(files::SendPacket(socket_, request.SerializeAsString(), {file.get()}));
  HPU_ASSIGN_OR_RETURN(auto answer, ReceiveAnswer(socket_));
  if (!answer.first.error().empty()) return absl::ResourceExhaustedError(answer.first.error());
  if (answer.second.files.size() != 1) {
    return absl::DataLossError(absl::StrCat("the fork server sent ", answer.second.files.size(),
                                            " files, expected one pidfd; restart the device server"));
  }
  return Child{answer.first.pid(), std::move(answer.second.files.front())};
}

std::string ForkClient::End(pid_t child) {
  control::ForkRequest request;
  request.set_ended_pid(child);
  std::lock_guard<std::mutex> lock(mutex_);
  if (!files::SendPacket(socket_, request.SerializeAsString()).ok()) return "unknown exit status";
  auto answer = ReceiveAnswer(socket_);
  return answer.ok() ? answer->first.end() : "unknown exit status";
}

}  // namespace hpu::serve
