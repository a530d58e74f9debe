#include "plugin/server/compile_workers/compile_process.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace hpu::serve {

absl::StatusOr<std::unique_ptr<CompileProcess>> CompileProcess::Start(ForkClient* fork_server) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot create a socket for a compile worker: ", std::strerror(errno), "; raise ulimit -n"));
  }
  files::FileDescriptor ours(sockets[0]);
  const files::FileDescriptor theirs(sockets[1]);
  absl::StatusOr<ForkClient::Child> child = fork_server->Fork(theirs);
  if (!child.ok()) {
    return absl::UnavailableError(absl::StrCat("cannot start a compile worker: ", child.status().message()));
  }
  return std::unique_ptr<CompileProcess>(new CompileProcess(fork_server, *std::move(child), std::move(ours)));
}

CompileProcess::~CompileProcess() { syscall(SYS_pidfd_send_signal, child_.pidfd.get(), SIGKILL, nullptr, 0); }

std::string CompileProcess::End() { return fork_server_->End(child_.pid); }

}  // namespace hpu::serve
