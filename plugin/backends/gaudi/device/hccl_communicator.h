// HcclCommunicator: one rank's communicator of HCCL, which another thread may abort.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_HCCL_COMMUNICATOR_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_HCCL_COMMUNICATOR_H_

#include <condition_variable>
#include <memory>
#include <mutex>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/backends/gaudi/hccl/library.h"

namespace hpu::gaudi {

// Borrows the library. Thread safe.
class HcclCommunicator {
 public:
  // Blocks until all ranks have called it with the same id.
  static absl::StatusOr<std::unique_ptr<HcclCommunicator>> Create(const hccl::Library& library,
                                                                  const hccl::hcclUniqueId& id, int rank, int size);
  // Calls hcclCommDestroy unless the communicator was aborted. The communicator's work must have ended.
  ~HcclCommunicator();
  HcclCommunicator(const HcclCommunicator&) = delete;
  HcclCommunicator& operator=(const HcclCommunicator&) = delete;

  const hccl::Functions& functions() const { return library_.functions(); }

  // Returns call(handle); Cancelled after an abort, which frees the handle.
  template <typename Call>
  absl::Status Run(const Call& call) {
    if (!Begin()) return absl::CancelledError("the communicator was aborted; create a new one");
    const absl::Status status = call(handle_);
    End();
    return status;
  }

  // Ends work that waits for peers: hcclCommAbort. First waits up to a second for calls in progress, which may block in
  // HCCL.
  void Abort();
  bool is_aborted() const;

  // The error that HCCL reports for queued work; OK if HCCL reports none.
  absl::Status AsyncError();

 private:
  HcclCommunicator(const hccl::Library& library, hccl::hcclComm_t handle) : library_(library), handle_(handle) {}

  bool Begin();
  void End();

  const hccl::Library& library_;
  const hccl::hcclComm_t handle_;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  int calls_ = 0;            // in progress; guarded by mutex_
  bool is_aborted_ = false;  // guarded by mutex_
};

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_HCCL_COMMUNICATOR_H_
