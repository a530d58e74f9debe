// What TensorFlow's DEVICE_DEFAULT kernels do for ops of the HPU.
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
  // Attributes that every default kernel constrains to int32: such kernels compute on the host, where int32 lives.
  std::set<std::string> int32_attributes;
  // Other types of a single type attribute that default kernels take, all of whose arguments are in host memory, as
  // Unpack's of int64; and whether they all are such kernels.
  std::set<tensorflow::DataType> host_types;
  bool only_on_host = true;
};

// By op.
absl::flat_hash_map<std::string, DefaultKernels> ReadDefaultKernels();

// Whether an op's default kernels compute on the host with device tensors: ours take their place.
bool DefaultTouchesData(absl::string_view op);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_DEFAULT_KERNELS_H_
