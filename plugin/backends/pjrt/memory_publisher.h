// MemoryPublisher: publishes a device's memory statistics for `hpu smi`.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_MEMORY_PUBLISHER_H_
#define HPU_PLUGIN_BACKENDS_PJRT_MEMORY_PUBLISHER_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "plugin/backends/common/module_lock.h"
#include "plugin/backends/pjrt/client/client.h"

namespace hpu::pjrt {

// A thread writes the statistics of `client` to the module's lock file once per period, as ToJson returns them, until
// the process exits. The constructor writes them, too. Must be destroyed before `client` and `lock`; must not be
// destroyed in a forked child, where the thread does not exist.
class MemoryPublisher {
 public:
  MemoryPublisher(const Client& client, const common::ModuleLock& lock,
                  std::chrono::milliseconds period = std::chrono::seconds(1));
  ~MemoryPublisher();

 private:
  void Publish();
  void Run();

  const Client& client_;
  const common::ModuleLock& lock_;
  const std::chrono::milliseconds period_;
  std::string published_;  // used by one thread at a time
  std::mutex mutex_;
  std::condition_variable ended_;
  bool ends_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_MEMORY_PUBLISHER_H_
