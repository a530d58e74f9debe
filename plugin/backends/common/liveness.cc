#include "plugin/backends/common/liveness.h"

#include <pthread.h>

#include <mutex>
#include <utility>

namespace hpu::common {
namespace {

std::atomic<uint32_t> fork_generation{0};

void CountForkInChild() { fork_generation.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

uint32_t ForkGeneration() { return fork_generation.load(std::memory_order_relaxed); }

Liveness::Liveness() : generation_(ForkGeneration()) {
  static auto* once = new std::once_flag;
  std::call_once(*once, [] { pthread_atfork(nullptr, nullptr, &CountForkInChild); });
}

void Liveness::MarkLost(absl::Status reason) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (lost_.load(std::memory_order_relaxed)) return;
  reason_ = std::move(reason);
  lost_.store(true, std::memory_order_release);
}

absl::Status Liveness::LostError() const {
  if (forked()) {
    return absl::AbortedError(
        "the HPU is lost: this process was forked after the HPU was acquired; use the spawn start method "
        "(multiprocessing.set_start_method(\"spawn\")) or fork before the first HPU op");
  }
  if (!reason_.ok()) return reason_;
  return absl::AbortedError("the HPU is lost after a device error; restart the process to acquire it again");
}

}  // namespace hpu::common
