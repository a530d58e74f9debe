// ProgramCompiler: compilation of clients' programs in worker processes, which may crash.
#ifndef HPU_PLUGIN_SERVER_COMPILE_WORKERS_PROGRAM_COMPILER_H_
#define HPU_PLUGIN_SERVER_COMPILE_WORKERS_PROGRAM_COMPILER_H_

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/hal/backend.h"
#include "plugin/server/compile_workers/compile_frame.h"
#include "plugin/server/compile_workers/compile_process.h"

namespace hpu::serve {

struct CompileOptions {
  // Forks children that run RunCompileWorker. Null: programs are compiled in this process, which a program may crash.
  ForkClient* fork_server = nullptr;
  size_t max_workers = 0;  // 0: the number of CPUs, between 2 and 8
  std::chrono::seconds timeout{1800};
};

// XLA aborts the process on some programs, so worker processes compile. Workers start on demand and are kept for later
// programs. Workers end with this process, however this process ends. Thread safe.
class ProgramCompiler {
 public:
  // `backend` is the workers' backend.
  ProgramCompiler(hal::Backend* backend, CompileOptions options);

  enum class Fault { kNone, kCrash, kHang };
  // Returns a recipe for Device::LoadRecipe. May block until a worker is free. An error of `check_cancelled` ends the
  // compilation and the worker. Fails with Internal if the worker crashes or exceeds the timeout; other workers
  // continue.
  absl::StatusOr<std::string> Compile(hal::Program program, Fault fault, const CancellationCheck& check_cancelled);

 private:
  // A worker in use. The destructor ends its process unless Release was called.
  class Worker;

  absl::StatusOr<std::unique_ptr<Worker>> AcquireWorker(const CancellationCheck& check_cancelled);

  hal::Backend* const backend_;
  const CompileOptions options_;
  const size_t max_workers_;

  std::mutex mutex_;
  std::condition_variable changed_;
  size_t in_use_ = 0;                                  // guarded by mutex_
  std::vector<std::unique_ptr<CompileProcess>> idle_;  // most recently used last; guarded by mutex_
};

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVER_COMPILE_WORKERS_PROGRAM_COMPILER_H_
