#include "plugin/backends/pjrt/memory_publisher.h"

#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "plugin/backends/common/signal_mask.h"

namespace hpu::pjrt {
namespace {

// Processes end without destroying their device. Objects of the plugin are destroyed after the function that Instance()
// registers has run, because the plugin was loaded before.
struct ProcessExit {
  const pid_t pid = getpid();
  std::mutex mutex;
  bool has_begun = false;  // guarded by mutex

  static ProcessExit& Instance() {
    static auto* instance = [] {
      std::atexit([] {
        ProcessExit& exit = Instance();
        if (getpid() != exit.pid) return;  // a thread of the parent process may have held the mutex
        std::lock_guard<std::mutex> lock(exit.mutex);
        exit.has_begun = true;
      });
      return new ProcessExit;
    }();
    return *instance;
  }
};

}  // namespace

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
  ProcessExit& exit = ProcessExit::Instance();
  std::lock_guard<std::mutex> lock(exit.mutex);
  if (exit.has_begun) return;
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
