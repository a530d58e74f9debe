// AcquiredModule: a SynapseAI device that this process holds, with the lock file of its module.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_ACQUIRED_MODULE_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_ACQUIRED_MODULE_H_

#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "plugin/backends/common/module_lock.h"
#include "plugin/backends/gaudi/device/runtime.h"
#include "plugin/hal/backend.h"

namespace hpu::gaudi {

// Borrows the Runtime. The driver makes modules exclusive; the lock file names the holder to other processes.
class AcquiredModule {
 public:
  // Acquires the first free module that the options admit. Unavailable if all of them are held, or if this process
  // already holds a module; the error names the known holders.
  static absl::StatusOr<std::unique_ptr<AcquiredModule>> Acquire(Runtime& runtime, const hal::AcquireOptions& options);
  // Calls synDeviceRelease. Must not run in a forked child.
  ~AcquiredModule();
  AcquiredModule(const AcquiredModule&) = delete;
  AcquiredModule& operator=(const AcquiredModule&) = delete;

  Runtime& runtime() const { return runtime_; }
  int module_id() const { return module_id_; }
  synapse::synDeviceId device() const { return device_; }

 private:
  AcquiredModule(Runtime& runtime, std::optional<common::ModuleLock> lock, int module_id, synapse::synDeviceId device)
      : runtime_(runtime), lock_(std::move(lock)), module_id_(module_id), device_(device) {}

  static absl::StatusOr<std::unique_ptr<AcquiredModule>> AcquireLocked(Runtime& runtime,
                                                                       std::optional<common::ModuleLock> lock,
                                                                       int module_id);

  Runtime& runtime_;
  const std::optional<common::ModuleLock> lock_;  // empty if the caller has claimed the module
  const int module_id_;
  const synapse::synDeviceId device_;
};

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_ACQUIRED_MODULE_H_
