// KeyValueStore: values that the processes of a job share, for clients of devices in several processes.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_CLIENT_KEY_VALUE_STORE_H_
#define HPU_PLUGIN_BACKENDS_PJRT_CLIENT_KEY_VALUE_STORE_H_

#include <chrono>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pjrt_c_api.h"

namespace hpu::pjrt {

// Implementations are thread safe. Plugins call the functions on any thread until their client is destroyed, at
// launches too. Keys and values are any bytes.
class KeyValueStore {
 public:
  virtual ~KeyValueStore() = default;

  // Blocks until a process has put the key. DeadlineExceeded names the key.
  virtual absl::StatusOr<std::string> Get(absl::string_view key, std::chrono::milliseconds timeout) = 0;
  // Fails with NotFound if no process has put the key.
  virtual absl::StatusOr<std::string> TryGet(absl::string_view key) = 0;
  // Replaces an earlier value.
  virtual absl::Status Put(absl::string_view key, absl::string_view value) = 0;
};

// Sets the callbacks of `create` to `store`, which must outlive the client.
void SetKeyValueCallbacks(KeyValueStore* store, PJRT_Client_Create_Args* create);

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_CLIENT_KEY_VALUE_STORE_H_
