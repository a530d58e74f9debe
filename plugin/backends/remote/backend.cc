#include "plugin/hal/backend.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "plugin/backends/common/faults.h"
#include "plugin/backends/common/reservation.h"
#include "plugin/backends/remote/device.h"
#include "plugin/base/flags/flags.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/status_payloads.h"

namespace hpu::remote {
namespace {

const absl::Duration kAnswerTimeout = absl::Seconds(10);

proto::Acquire RequestFor(const hal::AcquireOptions& options) {
  proto::Acquire request;
  if (options.module_id.has_value()) {
    request.set_has_module_id(true);
    request.set_module_id(*options.module_id);
  }
  for (const int module : options.visible) request.add_visible(module);
  request.set_memory_bytes(options.memory_bytes);
  for (const std::string& fault : options.faults.has_value() ? *options.faults : flags::Faults()) {
    // This process allocates the memory, so allocation faults are injected in this process.
    if (!absl::StartsWith(fault, "allocate")) request.add_faults(fault);
  }
  return request;
}

// Advice for a call that failed at a grpc:// address: a TLS server closes an unencrypted connection.
std::string TlsHint(absl::string_view spec, const absl::Status& status) {
  if (!absl::ConsumePrefix(&spec, "grpc://") || !absl::IsUnavailable(status)) return "";
  return absl::StrCat("; if the server uses TLS, set HPU_BACKEND=grpcs://", spec);
}

// Backend for the device server at `spec`. Opens one connection per query and per device.
class RemoteBackend final : public hal::Backend {
 public:
  explicit RemoteBackend(absl::string_view spec) : spec_(spec) {}

  absl::string_view name() const override { return "remote"; }

  absl::StatusOr<int> ModuleCount() override {
    HPU_ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, Connection::Open(spec_));
    proto::DescribeResponse response;
    bool valid = false;
    Call call(*connection, "Describe", [&](absl::string_view message) {
      valid = response.ParseFromArray(message.data(), static_cast<int>(message.size()));
    });
    call.Write(proto::DescribeRequest());
    call.WritesDone();
    if (const absl::Status status = call.Wait(kAnswerTimeout); !status.ok()) {
      return Reworded(status, absl::StrCat("device server at ", spec_, ": ", status.message(), TlsHint(spec_, status)));
    }
    if (!valid) {
      return absl::InternalError(
          absl::StrCat(spec_, " is not a device server: its answer to Describe cannot be parsed; correct HPU_BACKEND"));
    }
    return response.modules_size();
  }

  absl::StatusOr<std::unique_ptr<hal::Device>> Acquire(const hal::AcquireOptions& options) override {
    HPU_ASSIGN_OR_RETURN(common::Faults faults, common::Faults::Of(options));
    HPU_ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection, Connection::Open(spec_));
    HPU_ASSIGN_OR_RETURN(std::unique_ptr<Session> session,
                         Session::Acquire(std::move(connection), RequestFor(options)));
    const proto::Acquired& acquired = session->acquired();
    hal::DeviceInfo info;
    info.backend = "remote";
    info.type = acquired.type();
    info.description = absl::StrCat(acquired.description(), " at ", spec_);
    info.module_id = static_cast<int>(acquired.module_id());
    info.memory_bytes = acquired.memory_bytes();
    info.compiler_target = acquired.compiler_target();
    HPU_ASSIGN_OR_RETURN(auto reservation,
                         common::Reservation::Create(info.memory_bytes, common::Reservation::Data::kNone));
    return std::make_unique<RemoteDevice>(std::move(info), std::move(session), std::move(reservation),
                                          std::move(faults));
  }

 private:
  const std::string spec_;
};

std::unique_ptr<hal::Backend> Make(absl::string_view spec) { return std::make_unique<RemoteBackend>(spec); }

const bool registered = hal::RegisterScheme("grpc", &Make) && hal::RegisterScheme("grpcs", &Make) &&
                        hal::RegisterScheme("grpc+unix", &Make);

}  // namespace
}  // namespace hpu::remote
