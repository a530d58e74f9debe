// Limits of one call over gRPC, of clients and servers alike.
#ifndef HPU_PLUGIN_RPC_LIMITS_H_
#define HPU_PLUGIN_RPC_LIMITS_H_

#include <cstdint>

namespace hpu::rpc {

// A writer waits while more bytes than this are queued and not yet sent.
inline constexpr uint64_t kMaxUnsentBytes = uint64_t{8} << 20;

}  // namespace hpu::rpc

#endif  // HPU_PLUGIN_RPC_LIMITS_H_
