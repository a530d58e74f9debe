// Shape inference for the results of a lowering, by the op's shape function.
#ifndef HPU_PLUGIN_COMPILER_INFERRED_SHAPES_H_
#define HPU_PLUGIN_COMPILER_INFERRED_SHAPES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor_shape.h"

namespace hpu {

// One shape per result; sizes that the shape function cannot infer are unknown. `constants` are the indices of the
// compile-time constants among the inputs. Fails with the shape function's error. Fails with INVALID_ARGUMENT for a
// result whose number of elements overflows int64, and with RESOURCE_EXHAUSTED for a result larger than the address
// space.
absl::StatusOr<std::vector<tensorflow::PartialTensorShape>> InferShapes(const tensorflow::OpKernel& kernel,
                                                                        const std::vector<int>& constants,
                                                                        int graph_def_version,
                                                                        tensorflow::XlaOpKernelContext* context);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_INFERRED_SHAPES_H_
