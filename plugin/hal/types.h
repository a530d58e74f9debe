// Plain types shared by all HAL objects. No TensorFlow type appears in the HAL.
#ifndef HPU_PLUGIN_HAL_TYPES_H_
#define HPU_PLUGIN_HAL_TYPES_H_

#include <cstdint>
#include <string>
#include <vector>

namespace hpu::hal {

// An address in a device's memory. 0 is "no address". On every backend, device addresses are in a range that this
// process has reserved without access rights. Host code that dereferences a device address by mistake therefore faults.
using DeviceAddress = uint64_t;

// Every device allocation starts at a multiple of this many bytes (SynapseAI: ADDRESS_ALIGNMENT_SIZE).
inline constexpr uint64_t kDeviceAlignment = 128;

// Element types of recipe arguments and results. Values are stable, because serialised recipes contain the values.
enum class DataType : uint8_t {
  kInvalid = 0,
  kFloat32 = 1,
  kBFloat16 = 2,
  kInt32 = 3,
  kInt8 = 4,
  kBool = 5,
  kFloat16 = 6,
  kFloat64 = 7,
  kInt16 = 8,
  kInt64 = 9,
  kUInt8 = 10,
  kUInt16 = 11,
  kUInt32 = 12,
  kUInt64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
};

// Bytes of one element; 0 for kInvalid.
uint64_t SizeOf(DataType dtype);
// Name as TensorFlow writes it ("float32"); "invalid" for kInvalid.
const char* NameOf(DataType dtype);

// One argument or result of a recipe: a dense row-major array.
struct TensorSpec {
  DataType dtype = DataType::kInvalid;
  std::vector<int64_t> dims;  // outermost first; empty for a scalar
  uint64_t bytes = 0;         // SizeOf(dtype) * product(dims)
};

}  // namespace hpu::hal

#endif  // HPU_PLUGIN_HAL_TYPES_H_
