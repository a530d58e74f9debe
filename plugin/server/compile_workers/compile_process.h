// CompileProcess: handle for a compile worker, owned by the session process.
#ifndef HPU_PLUGIN_SERVER_COMPILE_WORKERS_COMPILE_PROCESS_H_
#define HPU_PLUGIN_SERVER_COMPILE_WORKERS_COMPILE_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "plugin/base/files/file_descriptor.h"
#include "plugin/server/fork_server.h"

namespace hpu::serve {

// A process that runs RunCompileWorker, forked by a fork server. Not thread safe.
class CompileProcess {
 public:
  // `fork_server` must outlive the CompileProcess. Fails with Unavailable if no process can be created.
  static absl::StatusOr<std::unique_ptr<CompileProcess>> Start(ForkClient* fork_server);
  // Kills the process if it has not ended.
  ~CompileProcess();

  CompileProcess(const CompileProcess&) = delete;
  CompileProcess& operator=(const CompileProcess&) = delete;

  pid_t pid() const { return child_.pid; }
  const files::FileDescriptor& socket() const { return socket_; }
  // Returns the exit status as text, for example "signal 6 (Aborted)". Waits briefly for a process that is ending, then
  // kills the process.
  std::string End();

 private:
  CompileProcess(ForkClient* fork_server, ForkClient::Child child, files::FileDescriptor socket)
      : fork_server_(fork_server), child_(std::move(child)), socket_(std::move(socket)) {}

  ForkClient* const fork_server_;
  const ForkClient::Child child_;
  const files::FileDescriptor socket_;
};

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVER_COMPILE_WORKERS_COMPILE_PROCESS_H_
