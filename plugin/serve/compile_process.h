// CompileProcess: a compile worker, as the server sees it.
#ifndef HPU_PLUGIN_SERVE_COMPILE_PROCESS_H_
#define HPU_PLUGIN_SERVE_COMPILE_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/files/file_descriptor.h"

namespace hpu::serve {

// A child that runs RunCompileWorker on its standard input, and whose standard output is this process's standard error.
// It receives no signals of the terminal's. Not thread safe.
class CompileProcess {
 public:
  // Starts `command`, program first, and does not wait until it is ready. Unavailable if there is no such program.
  static absl::StatusOr<std::unique_ptr<CompileProcess>> Start(const std::vector<std::string>& command);
  // Kills the process if it has not ended.
  ~CompileProcess();

  CompileProcess(const CompileProcess&) = delete;
  CompileProcess& operator=(const CompileProcess&) = delete;

  pid_t pid() const { return pid_; }
  const files::FileDescriptor& socket() const { return socket_; }
  // Whether it has ended by itself.
  bool HasEnded();
  // How it ended, "signal 6 (Aborted)". Waits a moment for one that is ending, and kills it then.
  std::string End();

 private:
  CompileProcess(pid_t pid, files::FileDescriptor socket);

  const pid_t pid_;
  const files::FileDescriptor socket_;
  std::optional<int> status_;  // waitpid's, once it has ended
};

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVE_COMPILE_PROCESS_H_
