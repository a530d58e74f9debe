// Types and enums of HCCL's C API, Habana's collective library (libhcl.so).
//
// These are the project's own declarations. Types and enumerators have HCCL's names, in a namespace. The library is
// bound with dlsym, so no header of the product is needed. Does not use Abseil, because the test double of libhcl also
// includes this header.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_HCCL_TYPES_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_HCCL_TYPES_H_

#include <cstddef>
#include <cstdint>

namespace hpu::hccl {

using hcclComm_t = void*;

inline constexpr size_t kUniqueIdBytes = 1024;

// Passed by value.
struct hcclUniqueId {
  uint8_t internal[kUniqueIdBytes];
  size_t length;
};

// Result of every function that does not return a text. The numbers up to hcclBusy are those of release 1.18; later
// numbers are derived from the order of the names.
enum hcclResult_t : int32_t {
  hcclUninitialized = -1,
  hcclSuccess = 0,
  hcclNoDeviceFound = 1,
  hcclUnsupported = 2,
  hcclOutOfMemory = 3,
  hcclUnhandledSynapseError = 4,
  hcclSystemError = 5,
  hcclInternalError = 6,
  hcclInvalidArgument = 7,
  hcclInvalidUsage = 8,
  hcclSocketError = 9,
  hcclLibfabricError = 10,
  hcclTryAgain = 11,
  hcclBusy = 12,
  hcclNumResults = 13,
  hcclStreamError = 14,
  hcclSynapseTerminated = 15,
  hcclPortDown = 16,
};

enum hcclDataType_t : int32_t {
  hcclInt8 = 0,
  hcclUint8 = 1,
  hcclInt32 = 2,
  hcclUint32 = 3,
  hcclInt64 = 4,
  hcclUint64 = 5,
  hcclFloat16 = 6,
  hcclFloat32 = 7,
  hcclFloat64 = 8,
  hcclBfloat16 = 9,
};

enum hcclRedOp_t : int32_t {
  hcclSum = 0,
  hcclProd = 1,
  hcclMin = 2,
  hcclMax = 3,
  hcclAvg = 4,
};

// The enumerator's name; "unknown result" for other numbers.
inline const char* ResultName(hcclResult_t result) {
#define HPU_HCCL_NAME(name) \
  case name:                \
    return #name;
  switch (result) {
    HPU_HCCL_NAME(hcclUninitialized)
    HPU_HCCL_NAME(hcclSuccess)
    HPU_HCCL_NAME(hcclNoDeviceFound)
    HPU_HCCL_NAME(hcclUnsupported)
    HPU_HCCL_NAME(hcclOutOfMemory)
    HPU_HCCL_NAME(hcclUnhandledSynapseError)
    HPU_HCCL_NAME(hcclSystemError)
    HPU_HCCL_NAME(hcclInternalError)
    HPU_HCCL_NAME(hcclInvalidArgument)
    HPU_HCCL_NAME(hcclInvalidUsage)
    HPU_HCCL_NAME(hcclSocketError)
    HPU_HCCL_NAME(hcclLibfabricError)
    HPU_HCCL_NAME(hcclTryAgain)
    HPU_HCCL_NAME(hcclBusy)
    HPU_HCCL_NAME(hcclNumResults)
    HPU_HCCL_NAME(hcclStreamError)
    HPU_HCCL_NAME(hcclSynapseTerminated)
    HPU_HCCL_NAME(hcclPortDown)
  }
#undef HPU_HCCL_NAME
  return "unknown result";
}

}  // namespace hpu::hccl

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_HCCL_TYPES_H_
