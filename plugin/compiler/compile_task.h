// CompileTask: cancellation and progress of one compile.
#ifndef HPU_PLUGIN_COMPILER_COMPILE_TASK_H_
#define HPU_PLUGIN_COMPILER_COMPILE_TASK_H_

#include <atomic>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "plugin/compiler/background/compile_progress.h"

namespace hpu {

struct CompileTask {
  // Turns true once the result is no longer needed; null if the compile cannot be cancelled. Polled between the steps
  // of compiling and while waiting for other threads and processes.
  const std::atomic<bool>* cancelled = nullptr;
  CompileProgress::Scope* progress = nullptr;  // null: no progress is shown
  bool only_stored = false;                    // a recipe that must be compiled is not: the task ends with CANCELLED

  // Fails with CANCELLED if `cancelled` is true. The error names `step`, the next step.
  absl::Status Check(absl::string_view step) const {
    const bool is_cancelled = cancelled != nullptr && cancelled->load(std::memory_order_relaxed);
    if (!is_cancelled) return absl::OkStatus();
    return absl::CancelledError(
        absl::StrCat("compilation cancelled before ", step, ": the recipe is no longer needed"));
  }

  // Called before each step, whose progress it shows. `step` must be a string literal. Fails like Check.
  absl::Status Enter(absl::string_view step) const {
    if (progress != nullptr) progress->Enter(step);
    return Check(step);
  }
};

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_COMPILE_TASK_H_
