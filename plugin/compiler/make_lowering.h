// MakeLowering: creates another device's lowering of a node.
#ifndef HPU_PLUGIN_COMPILER_MAKE_LOWERING_H_
#define HPU_PLUGIN_COMPILER_MAKE_LOWERING_H_

#include <memory>

#include "absl/status/statusor.h"
#include "tensorflow/core/framework/node_def.pb.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {

// Creates the lowering of `node` that is registered for `device`.
absl::StatusOr<std::unique_ptr<tensorflow::OpKernel>> MakeLowering(tensorflow::OpKernelConstruction* construction,
                                                                   const char* device, const tensorflow::NodeDef& node);
// For the node of `construction`.
inline absl::StatusOr<std::unique_ptr<tensorflow::OpKernel>> MakeLowering(
    tensorflow::OpKernelConstruction* construction, const char* device) {
  return MakeLowering(construction, device, construction->def());
}

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_MAKE_LOWERING_H_
