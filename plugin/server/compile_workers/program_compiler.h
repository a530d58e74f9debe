// ProgramCompiler: compiles programs of clients, in processes that it may lose.
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
  // Whose children run RunCompileWorker; null: programs are compiled in this process, which a program may then end.
  ForkClient* fork_server = nullptr;
  size_t max_workers = 0;  // 0: as many as CPUs, from 2 to 8
  std::chrono::seconds timeout{1800};
};

// XLA aborts the process on some programs, so a worker process compiles. Workers are started as they are needed, kept
// for later programs, and end with this process, however it ends. Thread safe.
class ProgramCompiler {
 public:
  // `backend` is that of the workers.
  ProgramCompiler(hal::Backend* backend, CompileOptions options);

  enum class Fault { kNone, kCrash, kHang };
  // What Device::LoadRecipe takes; may wait for a worker. An error of `wanted` ends it, and the worker. Internal if the
  // worker ends on the program or takes longer than the timeout; others go on.
  absl::StatusOr<std::string> Compile(hal::Program program, Fault fault, const GoOn& wanted);

 private:
  // A worker in use. Ends unless it is given back.
  class Worker;

  absl::StatusOr<std::unique_ptr<Worker>> Take(const GoOn& wanted);

  hal::Backend* const backend_;
  const CompileOptions options_;
  const size_t max_workers_;

  std::mutex mutex_;
  std::condition_variable changed_;
  size_t in_use_ = 0;                                  // guarded by mutex_
  std::vector<std::unique_ptr<CompileProcess>> idle_;  // the latest one last; guarded by mutex_
};

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVER_COMPILE_WORKERS_PROGRAM_COMPILER_H_
