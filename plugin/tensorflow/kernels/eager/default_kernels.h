// DefaultKernels: TensorFlow's DEVICE_DEFAULT kernels that the HPU can use.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_DEFAULT_KERNELS_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_DEFAULT_KERNELS_H_

#include <set>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "tensorflow/core/framework/types.h"

namespace hpu {

// The default kernels of one op.
struct DefaultKernels {
  bool exist = false;
  // Attributes that every default kernel constrains to int32. Such kernels compute on the host, because int32 tensors
  // are in host memory.
  std::set<std::string> int32_attributes;
  // Types other than int32 for which a default kernel has all arguments in host memory (int64 for Unpack).
  // `only_on_host`: whether all default kernels of the op have all arguments in host memory.
  std::set<tensorflow::DataType> host_types;
  bool only_on_host = true;
};

// The default kernels of all ops, by op name.
absl::flat_hash_map<std::string, DefaultKernels> ReadDefaultKernels();

// Whether an op's default kernels would access device tensors from the host. The plugin replaces such kernels.
bool DefaultTouchesData(absl::string_view op);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_DEFAULT_KERNELS_H_
