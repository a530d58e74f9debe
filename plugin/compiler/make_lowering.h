// MakeLowering: the lowering that a device other than the node's own has for the node.
#ifndef HPU_PLUGIN_COMPILER_MAKE_LOWERING_H_
#define HPU_PLUGIN_COMPILER_MAKE_LOWERING_H_

#include <memory>

#include "absl/status/statusor.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {

// Makes the lowering that is registered for `device` and the node that `construction` makes a lowering of.
absl::StatusOr<std::unique_ptr<tensorflow::OpKernel>> MakeLowering(tensorflow::OpKernelConstruction* construction,
                                                                   const char* device);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_MAKE_LOWERING_H_
