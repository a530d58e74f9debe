// libhpu_remote.so, in which gRPC is.
#ifndef HPU_PLUGIN_BACKENDS_REMOTE_RPC_LIBRARY_H_
#define HPU_PLUGIN_BACKENDS_REMOTE_RPC_LIBRARY_H_

#include "absl/status/statusor.h"
#include "plugin/rpc/rpc.h"

namespace hpu::remote {

// Its functions; loaded at the first call, from beside this code's own file, and never unloaded. Unimplemented, with
// what to install, if it was not built. Thread safe.
absl::StatusOr<const hpu_rpc_api*> RpcLibrary();

}  // namespace hpu::remote

#endif  // HPU_PLUGIN_BACKENDS_REMOTE_RPC_LIBRARY_H_
