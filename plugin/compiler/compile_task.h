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
  // of compiling and while waiting for other processes.
  const std::atomic<bool>* cancelled = nullptr;
  CompileProgress::Scope* progress = nullptr;  // null: no progress is shown

  // Called before each step. `step` must be a string literal. Fails with CANCELLED if `cancelled` is true.
  absl::Status Enter(absl::string_view step) const {
    if (progress != nullptr) progress->Enter(step);
    const bool over = cancelled != nullptr && cancelled->load(std::memory_order_relaxed);
    if (!over) return absl::OkStatus();
    return absl::CancelledError(
        absl::StrCat("compilation cancelled before ", step, ": the recipe is no longer needed"));
  }
};

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_COMPILE_TASK_H_
