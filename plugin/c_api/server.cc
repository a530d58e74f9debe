#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hpu/serve/v1/control.pb.h"
#include "plugin/backends/remote/rpc_library.h"
#include "plugin/base/files/packet_socket.h"
#include "plugin/base/log/log.h"
#include "plugin/base/status_macros.h"
#include "plugin/c_api/c_api.h"
#include "plugin/hal/backend.h"
#include "plugin/server/fork_server.h"
#include "plugin/server/service/session_process.h"

namespace hpu::serve {
namespace {

namespace control = ::hpu::serve::v1;

absl::StatusOr<control::Options> ReceiveOptions(const files::FileDescriptor& socket) {
  HPU_ASSIGN_OR_RETURN(const files::Packet first, files::ReceivePacket(socket));
  control::Options options;
  if (!options.ParseFromString(first.bytes)) {
    return absl::InvalidArgumentError(absl::StrCat("cannot parse the fork server's options (", first.bytes.size(),
                                                   " bytes): expected a serialised hpu.serve.v1.Options"));
  }
  return options;
}

// Loads the RPC library and the backend before forking, so that all session processes share their memory.
absl::Status Load(const std::string& backend_name) {
  HPU_RETURN_IF_ERROR(remote::RpcLibrary().status());
  HPU_ASSIGN_OR_RETURN(hal::Backend* const backend, hal::GetBackend(backend_name));
  static_cast<void>(backend->CompilerTarget());
  return absl::OkStatus();
}

absl::Status RunSessionForkServer(const files::FileDescriptor& socket) {
  HPU_ASSIGN_OR_RETURN(const control::Options options, ReceiveOptions(socket));
  if (const absl::Status loaded = Load(options.backend()); !loaded.ok()) {
    ReportForkServerError(socket, loaded);
    return loaded;
  }
  RunForkServer(socket, [&](std::vector<files::FileDescriptor> files) {
    if (files.size() != 2) return;
    RunSessionProcess(options, std::move(files[0]), std::move(files[1]));
  });
  return absl::OkStatus();
}

}  // namespace
}  // namespace hpu::serve

extern "C" int32_t hpu_serve_fork_server(int32_t socket) {
  hpu::log::ReadSettings();
  const absl::Status status = hpu::serve::RunSessionForkServer(hpu::files::FileDescriptor(socket));
  if (!status.ok()) {
    HPU_LOG(kBackend, kError) << "the device server's fork server failed: " << status;
  }
  return static_cast<int32_t>(status.code());
}
