#include "plugin/tensorflow/device/fork_guard.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>

#include "absl/strings/str_cat.h"

namespace hpu {
namespace {

std::atomic<pid_t> owner{0};  // process that acquired the device
std::atomic<bool> forked{false};

void MarkForked() { forked.store(true, std::memory_order_relaxed); }

}  // namespace

void WatchForks() {
  owner.store(getpid());
  static const int registered = pthread_atfork(nullptr, nullptr, MarkForked);
  static_cast<void>(registered);
}

bool IsForkedChild() { return forked.load(std::memory_order_relaxed); }

absl::Status ForkedChildError() {
  return absl::AbortedError(absl::StrCat("The HPU cannot be used in process ", getpid(),
                                         ": it was forked from process ", owner.load(),
                                         ", which holds the device. Call multiprocessing.set_start_method(\"spawn\") "
                                         "before starting processes that use the HPU, or fork before the first use of "
                                         "the HPU."));
}

}  // namespace hpu
