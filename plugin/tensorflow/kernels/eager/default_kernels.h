// DefaultKernels: TensorFlow's DEVICE_DEFAULT kernels that the HPU can use.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_DEFAULT_KERNELS_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_DEFAULT_KERNELS_H_

#include <set>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "tensorflow/core/framework/types.h"

namespace hpu {

// The default kernels of one op, without kernels that have int32 arguments in device memory.
struct DefaultKernels {
  bool exist = false;
  // Attributes that every default kernel constrains to int32, apart from kernels for host_types. Such kernels compute
  // on the host, because int32 tensors are in host memory.
  std::set<std::string> int32_attributes;
  // int64 if a default kernel for int64 alone has all arguments in host memory (Unpack).
  // `only_on_host`: whether every default kernel supports a single type and has all arguments in host memory.
  std::set<tensorflow::DataType> host_types;
  bool only_on_host = true;
};

// The default kernels of all ops, by op name.
absl::flat_hash_map<std::string, DefaultKernels> ReadDefaultKernels();

// Whether an op's default kernels would access device tensors from the host. The plugin replaces such kernels.
bool DefaultTouchesData(absl::string_view op);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_DEFAULT_KERNELS_H_
