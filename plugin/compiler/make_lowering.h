// MakeLowering: creates another device's lowering of a node.
#ifndef HPU_PLUGIN_COMPILER_MAKE_LOWERING_H_
#define HPU_PLUGIN_COMPILER_MAKE_LOWERING_H_

#include <memory>

#include "absl/status/statusor.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {

// Creates the lowering that is registered for `device`, for the node of `construction`.
absl::StatusOr<std::unique_ptr<tensorflow::OpKernel>> MakeLowering(tensorflow::OpKernelConstruction* construction,
                                                                   const char* device);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_MAKE_LOWERING_H_
