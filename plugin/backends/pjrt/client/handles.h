// Owning handles for the objects of a PJRT plugin.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_CLIENT_HANDLES_H_
#define HPU_PLUGIN_BACKENDS_PJRT_CLIENT_HANDLES_H_

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/backends/pjrt/client/plugin.h"

namespace hpu::pjrt {

// Destroys an object of `plugin`. Specialised for each type of object.
template <typename Object>
struct Deleter {
  const Plugin* plugin = nullptr;
  void operator()(Object* object) const;
};

template <typename Object>
using Handle = std::unique_ptr<Object, Deleter<Object>>;

using BufferHandle = Handle<PJRT_Buffer>;
using ClientHandle = Handle<PJRT_Client>;
using ExecutableHandle = Handle<PJRT_Executable>;
using LoadedExecutableHandle = Handle<PJRT_LoadedExecutable>;
using TransferManagerHandle = Handle<PJRT_AsyncHostToDeviceTransferManager>;
using TopologyHandle = Handle<PJRT_TopologyDescription>;

// An event of the plugin. Null counts as an event that has occurred. Thread compatible.
class Event {
 public:
  Event() = default;
  Event(const Plugin& plugin, PJRT_Event* event) : handle_(event, Deleter<PJRT_Event>{&plugin}) {}

  // Whether the event has occurred, with or without an error. Cheap.
  bool IsReady() const;
  // Blocks until the event has occurred; returns its error, if any.
  absl::Status Await() const;
  // Calls `callback` once, with the event's error, when the event has occurred: within this call or on a thread of the
  // plugin. If OnReady fails, `callback` is not called. Requires an event that is not null.
  absl::Status OnReady(std::function<void(absl::Status)> callback) const;

 private:
  Handle<PJRT_Event> handle_;
};

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_CLIENT_HANDLES_H_
