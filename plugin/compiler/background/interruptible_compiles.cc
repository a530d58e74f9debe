#include "plugin/compiler/background/interruptible_compiles.h"

#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/base/interrupts/sigint.h"
#include "plugin/compiler/background/compile_progress.h"

namespace hpu {
namespace {

void ExitDuringCompiles(int status, void* compiles) {
  if (static_cast<InterruptibleCompiles*>(compiles)->running() == 0) return;
  std::fflush(nullptr);
  _exit(status);
}

}  // namespace

InterruptibleCompiles& InterruptibleCompiles::Get() {
  static auto* compiles = new InterruptibleCompiles;
  return *compiles;
}

absl::Status InterruptibleCompiles::Run(absl::string_view cluster, CompileQueue::Work work) {
  interrupts::WatchSigint();
  auto compile = std::make_shared<Compile>();
  compile->work = std::move(work);
  {
    absl::MutexLock lock(&mutex_);
    running_.push_back(compile);
  }
  try {
    std::thread([this, compile] { RunWork(compile.get()); }).detach();
  } catch (const std::system_error&) {
    RunWork(compile.get());
  }
  const auto is_over = [compile = compile.get()] { return compile->ended || compile->interrupted; };
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(&is_over));
  if (!compile->interrupted) return absl::OkStatus();
  return absl::CancelledError(
      absl::StrCat(cluster, ": interrupted (Ctrl-C) while its recipe was being compiled; run it again to compile it"));
}

void InterruptibleCompiles::RunWork(Compile* compile) {
  compile->work(compile->cancelled);
  compile->work = nullptr;  // frees the work's state before the end of the wait
  absl::MutexLock lock(&mutex_);
  compile->ended = true;
  running_.remove_if([compile](const std::shared_ptr<Compile>& other) { return other.get() == compile; });
}

void InterruptibleCompiles::Interrupt() {
  absl::MutexLock lock(&mutex_);
  for (const std::shared_ptr<Compile>& compile : running_) {
    compile->cancelled.store(true, std::memory_order_relaxed);
    // Before the wait ends, because the program then writes to the terminal.
    CompileProgress::Get().Hide(&compile->cancelled);
    compile->interrupted = true;
  }
}

void InterruptibleCompiles::Stop() {
  absl::MutexLock lock(&mutex_);
  if (running_.empty()) return;
  for (const std::shared_ptr<Compile>& compile : running_) compile->cancelled.store(true, std::memory_order_relaxed);
  on_exit(&ExitDuringCompiles, this);
}

int InterruptibleCompiles::running() const {
  absl::MutexLock lock(&mutex_);
  return static_cast<int>(running_.size());
}

}  // namespace hpu
