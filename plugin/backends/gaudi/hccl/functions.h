// Function table of HCCL's C API: the required and the optional functions.
//
// Each list is a macro that applies FUNCTION(name, (parameters), (arguments)) to its functions; every function returns
// hcclResult_t. The backend has no communicators without the required functions. Optional functions may be null.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_HCCL_FUNCTIONS_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_HCCL_FUNCTIONS_H_

#include "plugin/backends/gaudi/hccl/types.h"

// clang-format off

// Data functions queue work on `stream`, a synStreamHandle; addresses are the card's. HCCL's references leave some
// rules open; NCCL's rules are assumed there. The ranks call the same collectives in the same order. In-place operation
// is allowed. hcclCommInitRank blocks until all ranks have called it. hcclCommAbort may run on any thread, and frees
// the communicator as hcclCommDestroy does.
#define HPU_HCCL_REQUIRED(FUNCTION)                                                                                    \
  FUNCTION(hcclGetVersion, (int* version), (version))                                                                  \
  FUNCTION(hcclGetUniqueId, (hcclUniqueId* id), (id))                                                                  \
  FUNCTION(hcclCommInitRank, (hcclComm_t* comm, int ranks, hcclUniqueId id, int rank), (comm, ranks, id, rank))        \
  FUNCTION(hcclCommDestroy, (hcclComm_t comm), (comm))                                                                 \
  FUNCTION(hcclCommAbort, (hcclComm_t comm), (comm))                                                                   \
  FUNCTION(hcclAllReduce, (const void* send, void* receive, size_t count, hcclDataType_t type, hcclRedOp_t op,         \
                           hcclComm_t comm, void* stream), (send, receive, count, type, op, comm, stream))             \
  FUNCTION(hcclBroadcast, (const void* send, void* receive, size_t count, hcclDataType_t type, int root,               \
                           hcclComm_t comm, void* stream), (send, receive, count, type, root, comm, stream))           \
  FUNCTION(hcclAllGather, (const void* send, void* receive, size_t send_count, hcclDataType_t type,                    \
                           hcclComm_t comm, void* stream), (send, receive, send_count, type, comm, stream))            \
  FUNCTION(hcclReduceScatter, (const void* send, void* receive, size_t receive_count, hcclDataType_t type,             \
                               hcclRedOp_t op, hcclComm_t comm, void* stream),                                         \
           (send, receive, receive_count, type, op, comm, stream))                                                     \
  FUNCTION(hcclSend, (const void* send, size_t count, hcclDataType_t type, int peer, hcclComm_t comm, void* stream),   \
           (send, count, type, peer, comm, stream))                                                                    \
  FUNCTION(hcclRecv, (void* receive, size_t count, hcclDataType_t type, int peer, hcclComm_t comm, void* stream),      \
           (receive, count, type, peer, comm, stream))                                                                 \
  FUNCTION(hcclGroupStart, (), ())                                                                                     \
  FUNCTION(hcclGroupEnd, (), ())

#define HPU_HCCL_OPTIONAL(FUNCTION)                                                                                    \
  FUNCTION(hcclCommGetAsyncError, (hcclComm_t comm, hcclResult_t* error), (comm, error))

// clang-format on

namespace hpu::hccl {

#define HPU_HCCL_MEMBER(name, parameters, arguments) hcclResult_t(*name) parameters = nullptr;

struct Functions {
  HPU_HCCL_REQUIRED(HPU_HCCL_MEMBER)
  HPU_HCCL_OPTIONAL(HPU_HCCL_MEMBER)
  // Optional.
  const char* (*hcclGetErrorString)(hcclResult_t) = nullptr;
  const char* (*hcclGetLastErrorMessage)() = nullptr;
};

#undef HPU_HCCL_MEMBER

}  // namespace hpu::hccl

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_HCCL_FUNCTIONS_H_
