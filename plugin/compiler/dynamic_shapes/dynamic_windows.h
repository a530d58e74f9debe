// Windows over arrays of dynamic size: convolutions, pooling, patches, and their gradients.
#ifndef HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_DYNAMIC_WINDOWS_H_
#define HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_DYNAMIC_WINDOWS_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/core/framework/node_def.pb.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {

// Attribute of the nodes of UnpaddedNode.
inline constexpr char kPlacedWindows[] = "_hpu_placed_windows";

// For an op of the class kWindows with padding SAME: the node with padding VALID.
std::optional<tensorflow::NodeDef> UnpaddedNode(const tensorflow::NodeDef& node);

// Whether LowerWindows must lower an op of the class kWindows: an operand has a dynamic dimension, or the shape of the
// images or of the filter depends on a dynamic size.
absl::StatusOr<bool> HasDynamicWindows(tensorflow::XlaOpKernelContext* context);

// Runs the lowering of an op of the class kWindows, with dynamic operands, over the bounds. Elements past a size are
// replaced by elements that do not change the result. The padding of SAME depends on the size if the stride is greater
// than 1: the images are then moved into larger arrays that include the padding, and `unpadded`, the lowering of
// UnpaddedNode, runs. For averages over padded windows no lowering runs, because they
// divide by the true number of elements. Fails with UNIMPLEMENTED if features or filters have a dynamic size.
absl::Status LowerWindows(tensorflow::OpKernel* lowering, tensorflow::OpKernel* unpadded,
                          tensorflow::OpKernelContext* context);

// Lowers averages over static images with padding SAME, and their gradients, and returns true; otherwise lowers
// nothing. The numbers of elements are computed from indices. XLA's lowering counts ones in windows, which XLA then
// evaluates element by element during the compilation: minutes for large windows.
absl::StatusOr<bool> LowerPaddedAverage(tensorflow::OpKernel* lowering, tensorflow::OpKernelContext* context);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_DYNAMIC_WINDOWS_H_
