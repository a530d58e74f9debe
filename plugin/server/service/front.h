// Front: interface to the server's front process, which authenticates clients, assigns modules and signs recipes.
#ifndef HPU_PLUGIN_SERVER_SERVICE_FRONT_H_
#define HPU_PLUGIN_SERVER_SERVICE_FRONT_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hpu/device/v1/device.pb.h"
#include "plugin/base/files/file_descriptor.h"
#include "plugin/base/files/shared_memory.h"

namespace hpu::serve {

namespace proto = ::hpu::device::v1;

// hpu/serve/v1/control.proto specifies each call and its errors. All calls fail with Unavailable once the front process
// is gone. Thread safe.
class Front {
 public:
  struct ClaimedModule {
    int module_id = 0;
    uint64_t session_number = 0;
    std::string session;  // token that the session's calls present
  };
  // A rank of a communicator. `id` and `size` belong to the communicator.
  struct GroupRank {
    std::string id;
    int rank = 0;
    int size = 0;
  };
  using GroupEnd = std::function<void(absl::string_view reason)>;

  virtual ~Front() = default;

  virtual absl::Status Authorize(absl::string_view authorization) = 0;
  virtual absl::StatusOr<ClaimedModule> Claim(const proto::Acquire& request) = 0;
  virtual void Release() = 0;
  virtual absl::StatusOr<proto::DescribeResponse> Describe() = 0;
  virtual absl::Status Share(const files::SharedMemory& memory) = 0;
  // Returns a seal of kSealBytes (recipe_container.h) for a recipe with this digest.
  virtual absl::StatusOr<std::string> Seal(absl::string_view digest) = 0;
  virtual absl::Status CheckSeal(absl::string_view digest, absl::string_view seal) = 0;
  // Blocks until all ranks have joined or `abandoned` returns true. Returns the file of the segment that the ranks
  // share. `on_end` runs on a thread of this object when another rank leaves. `on_end` does not run after LeaveGroup
  // has returned.
  virtual absl::StatusOr<files::FileDescriptor> JoinGroup(const GroupRank& rank, int segment,
                                                          const std::function<bool()>& abandoned, GroupEnd on_end) = 0;
  virtual void LeaveGroup(const GroupRank& rank, absl::string_view reason) = 0;
  // Logs a refused call.
  virtual void ReportRefusal(absl::string_view method, const absl::Status& status) = 0;
};

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVER_SERVICE_FRONT_H_
