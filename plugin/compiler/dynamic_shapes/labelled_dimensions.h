// Labels of the dimensions of an op's operands and results, for lowerings that run over the bounds.
#ifndef HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_LABELLED_DIMENSIONS_H_
#define HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_LABELLED_DIMENSIONS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {

// The labels of a call of an op in the class kLabelled, for example "n _, n -> n". Operands and results are separated
// by commas, dimensions by spaces:
//   a letter  a dimension that may be dynamic. Dimensions with one letter have one size
//   _         a static dimension
//   *         any number of dimensions that may be dynamic, labelled by their position among these dimensions
//   ^         the only dimensions of an operand. They are broadcast; the last dimensions have one label
//   ...       any number of static dimensions
//   =0        elements past a size become 0; also =1, =-1, =max, =lowest, and =index for their position
// Operands that are not listed are static.
std::string LabelsOf(const tensorflow::OpKernel& kernel, tensorflow::XlaOpKernelContext* context);

// Fails with UNIMPLEMENTED if a dynamic dimension has no label, or if dimensions of one label have different bounds.
absl::Status CheckLabels(const tensorflow::OpKernel& kernel, absl::string_view labels,
                         tensorflow::XlaOpKernelContext* context);

// Runs `lowering` with the bounds as sizes, and sets the results' sizes.
absl::Status LowerWithLabels(tensorflow::OpKernel* lowering, absl::string_view labels,
                             tensorflow::OpKernelContext* context);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_LABELLED_DIMENSIONS_H_
