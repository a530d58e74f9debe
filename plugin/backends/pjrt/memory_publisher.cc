#include "plugin/backends/pjrt/memory_publisher.h"

#include <pthread.h>

#include <utility>

#include "plugin/backends/common/signal_mask.h"

namespace hpu::pjrt {

MemoryPublisher::MemoryPublisher(const Client& client, const common::ModuleLock& lock, std::chrono::milliseconds period)
    : client_(client), lock_(lock), period_(period) {
  Publish();
  const common::ScopedSignalMask mask;
  thread_ = std::thread([this] { Run(); });
  pthread_setname_np(thread_.native_handle(), "hpu_pjrt_memory");
}

MemoryPublisher::~MemoryPublisher() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

void MemoryPublisher::Publish() {
  const auto stats = client_.memory_stats();
  if (!stats.ok()) return;
  std::string status = ToJson(*stats);
  if (status == published_) return;
  lock_.WriteStatus(status);
  published_ = std::move(status);
}

void MemoryPublisher::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ended_.wait_for(lock, period_, [this] { return ends_; })) Publish();
}

}  // namespace hpu::pjrt
