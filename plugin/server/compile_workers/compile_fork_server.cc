#include "plugin/server/compile_workers/compile_fork_server.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/base/files/packet_socket.h"
#include "plugin/base/status_macros.h"
#include "plugin/server/compile_workers/compile_worker.h"
#include "plugin/server/confinement.h"

namespace hpu::serve {
namespace {

constexpr uint64_t kMaxMemoryBytes = uint64_t{32} << 30;

[[noreturn]] void ServeForks(const CompileForkServerOptions& options, const files::FileDescriptor& socket) {
  for (const int file : options.not_inherited) close(file);
  if (options.confine) {
    LimitMemory(kMaxMemoryBytes);
    if (!Confine(Role::kForks).ok()) _exit(1);
  }
  RunForkServer(socket, [&](std::vector<files::FileDescriptor> files) {
    if (files.size() != 1) _exit(1);
    RunCompileWorker(*options.backend, files.front().Release(), options.timeout, options.confine);
  });
  _exit(0);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ForkClient>> StartCompileForkServer(const CompileForkServerOptions& options) {
  HPU_ASSIGN_OR_RETURN(auto sockets, files::PacketSocketPair());
  const pid_t pid = fork();
  if (pid < 0) {
    return absl::ResourceExhaustedError(absl::StrCat("cannot create the fork server of the compile workers: ",
                                                     std::strerror(errno), "; free memory or raise ulimit -u"));
  }
  if (pid == 0) {
    close(sockets.first.Release());
    ServeForks(options, sockets.second);
  }
  auto client = std::make_unique<ForkClient>(std::move(sockets.first));
  sockets.second = files::FileDescriptor();
  HPU_RETURN_IF_ERROR(client->AwaitReady());
  return client;
}

}  // namespace hpu::serve
