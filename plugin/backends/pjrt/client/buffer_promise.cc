#include "plugin/backends/pjrt/client/buffer_promise.h"

#include "plugin/base/log/log.h"
#include "plugin/base/status_macros.h"

namespace hpu::pjrt {

BufferPromise::~BufferPromise() {
  if (manager_ != nullptr)
    Fail(absl::CancelledError("the buffer was not written: the operation that writes it was abandoned"));
}

absl::StatusOr<Event> BufferPromise::Fulfill(const void* data) {
  const TransferManagerHandle manager = std::move(manager_);
  const Plugin& plugin = *manager.get_deleter().plugin;
  Arguments<PJRT_AsyncHostToDeviceTransferManager_TransferData_Args> transfer;
  transfer->transfer_manager = manager.get();
  transfer->data = data;
  transfer->transfer_size = static_cast<int64_t>(bytes_);
  transfer->is_last_transfer = true;
  HPU_RETURN_IF_ERROR(HPU_PJRT_CALL(plugin, PJRT_AsyncHostToDeviceTransferManager_TransferData, transfer));
  return Event(plugin, transfer->done_with_h2d_transfer);
}

void BufferPromise::Fail(const absl::Status& error) {
  const TransferManagerHandle manager = std::move(manager_);
  const Plugin& plugin = *manager.get_deleter().plugin;
  Arguments<PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args> fail;
  fail->transfer_manager = manager.get();
  fail->error_code = static_cast<PJRT_Error_Code>(error.code());  // PJRT_Error_Code has the same values
  fail->error_message = error.message().data();
  fail->error_message_size = error.message().size();
  // Without this call, work that uses the buffer waits forever.
  const absl::Status status = HPU_PJRT_CALL(plugin, PJRT_AsyncHostToDeviceTransferManager_SetBufferError, fail);
  if (!status.ok()) {
    HPU_LOG(kBackend, kError) << "cannot mark a buffer as failed; work that uses the buffer may hang: " << status;
  }
}

}  // namespace hpu::pjrt
