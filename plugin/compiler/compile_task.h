// CompileTask: what goes with one compile besides its program.
#ifndef HPU_PLUGIN_COMPILER_COMPILE_TASK_H_
#define HPU_PLUGIN_COMPILER_COMPILE_TASK_H_

#include <atomic>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "plugin/compiler/background/compile_progress.h"

namespace hpu {

struct CompileTask {
  // Turns true once nobody wants the outcome; null if that cannot happen. Looked at between the steps of compiling and
  // while other processes are waited for.
  const std::atomic<bool>* cancelled = nullptr;
  CompileProgress::Scope* progress = nullptr;  // null: nothing is shown

  // Before each step, which is a literal: Cancelled, or OK.
  absl::Status Enter(absl::string_view step) const {
    if (progress != nullptr) progress->Enter(step);
    const bool over = cancelled != nullptr && cancelled->load(std::memory_order_relaxed);
    return over ? absl::CancelledError("nobody waits for the recipe any more") : absl::OkStatus();
  }
};

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_COMPILE_TASK_H_
