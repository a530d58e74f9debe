#include "plugin/backends/pjrt/client/handles.h"

#include <utility>

#include "plugin/base/status_macros.h"

namespace hpu::pjrt {

// The only possible error is a wrong struct size, which leaks the object.
#define HPU_PJRT_DELETER(Object, field)                                     \
  template <>                                                               \
  void Deleter<PJRT_##Object>::operator()(PJRT_##Object* object) const {    \
    Arguments<PJRT_##Object##_Destroy_Args> destroy;                        \
    destroy->field = object;                                                \
    HPU_PJRT_CALL(*plugin, PJRT_##Object##_Destroy, destroy).IgnoreError(); \
  }

HPU_PJRT_DELETER(AsyncHostToDeviceTransferManager, transfer_manager)
HPU_PJRT_DELETER(Buffer, buffer)
HPU_PJRT_DELETER(Client, client)
HPU_PJRT_DELETER(Event, event)
HPU_PJRT_DELETER(Executable, executable)
HPU_PJRT_DELETER(LoadedExecutable, executable)
HPU_PJRT_DELETER(TopologyDescription, topology)

#undef HPU_PJRT_DELETER

bool Event::IsReady() const {
  if (handle_ == nullptr) return true;
  Arguments<PJRT_Event_IsReady_Args> is_ready;
  is_ready->event = handle_.get();
  const Plugin& plugin = *handle_.get_deleter().plugin;
  // An event that cannot be polled counts as pending. Await returns the error.
  return HPU_PJRT_CALL(plugin, PJRT_Event_IsReady, is_ready).ok() && is_ready->is_ready;
}

absl::Status Event::Await() const {
  if (handle_ == nullptr) return absl::OkStatus();
  const Plugin& plugin = *handle_.get_deleter().plugin;
  Arguments<PJRT_Event_Await_Args> await;
  await->event = handle_.get();
  PJRT_Error* error = plugin.api().PJRT_Event_Await(&await.args);
  return error == nullptr ? absl::OkStatus() : plugin.ConsumeError(error);
}

absl::Status Event::OnReady(std::function<void(absl::Status)> callback) const {
  struct Registered {
    const Plugin& plugin;
    const std::function<void(absl::Status)> callback;
  };
  const Plugin& plugin = *handle_.get_deleter().plugin;
  auto registered = std::make_unique<Registered>(Registered{plugin, std::move(callback)});
  Arguments<PJRT_Event_OnReady_Args> on_ready;
  on_ready->event = handle_.get();
  on_ready->callback = [](PJRT_Error* error, void* argument) {
    const std::unique_ptr<Registered> owned(static_cast<Registered*>(argument));
    owned->callback(error == nullptr ? absl::OkStatus() : owned->plugin.ConsumeError(error));
  };
  on_ready->user_arg = registered.get();
  HPU_RETURN_IF_ERROR(HPU_PJRT_CALL(plugin, PJRT_Event_OnReady, on_ready));
  static_cast<void>(registered.release());
  return absl::OkStatus();
}

}  // namespace hpu::pjrt
