// Limits of a gRPC call, for clients and servers.
#ifndef HPU_PLUGIN_RPC_LIMITS_H_
#define HPU_PLUGIN_RPC_LIMITS_H_

#include <cstdint>

namespace hpu::rpc {

// A writer waits while more than this number of bytes is queued but unsent.
inline constexpr uint64_t kMaxUnsentBytes = uint64_t{8} << 20;

}  // namespace hpu::rpc

#endif  // HPU_PLUGIN_RPC_LIMITS_H_
