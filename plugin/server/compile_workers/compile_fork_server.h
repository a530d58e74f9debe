// Fork server for the compile workers of a session.
#ifndef HPU_PLUGIN_SERVER_COMPILE_WORKERS_COMPILE_FORK_SERVER_H_
#define HPU_PLUGIN_SERVER_COMPILE_WORKERS_COMPILE_FORK_SERVER_H_

#include <chrono>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/hal/backend.h"
#include "plugin/server/fork_server.h"

namespace hpu::serve {

struct CompileForkServerOptions {
  hal::Backend* backend = nullptr;
  std::chrono::seconds timeout{1800};  // processor time for one program, per processor
  bool confine = false;                // confine fork server and workers (confinement.h)
  std::vector<int> not_inherited;      // files of this process that the fork server and its workers close
};

// Forks a child process that forks compile workers (compile_worker.h). The child ends with this process. This process
// must be single-threaded. Fails with ResourceExhausted if the child cannot be created.
absl::StatusOr<std::unique_ptr<ForkClient>> StartCompileForkServer(const CompileForkServerOptions& options);

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVER_COMPILE_WORKERS_COMPILE_FORK_SERVER_H_
