// RpcLibrary: loader of libhpu_remote.so, the library that contains gRPC.
#ifndef HPU_PLUGIN_BACKENDS_REMOTE_RPC_LIBRARY_H_
#define HPU_PLUGIN_BACKENDS_REMOTE_RPC_LIBRARY_H_

#include "absl/status/statusor.h"
#include "plugin/rpc/rpc.h"

namespace hpu::remote {

// The functions of libhpu_remote.so. The first call loads the library from the plugin's directory; the library is never
// unloaded. Fails with Unimplemented and the reason if the library is missing, cannot be loaded or has another version.
// Thread safe.
absl::StatusOr<const hpu_rpc_api*> RpcLibrary();

}  // namespace hpu::remote

#endif  // HPU_PLUGIN_BACKENDS_REMOTE_RPC_LIBRARY_H_
