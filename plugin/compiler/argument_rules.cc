#include "plugin/compiler/argument_rules.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/base/status_macros.h"
#include "plugin/compat/lowering_values.h"
#include "plugin/compiler/pooling_rules.h"
#include "plugin/op_facts/op_facts.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu {
namespace {

using tensorflow::OpKernel;
using tensorflow::PartialTensorShape;
using tensorflow::TensorShape;
using tensorflow::XlaOpKernelContext;
using ArgumentRule = absl::Status (*)(const OpKernel& kernel, XlaOpKernelContext* context);

// The errors are TensorFlow's own texts, some with the op or the values added.
absl::Status CheckDilations(const OpKernel& kernel, XlaOpKernelContext*) {
  std::vector<int32_t> dilations;
  HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(kernel.def(), "dilations", &dilations));
  if (absl::c_all_of(dilations, [](int32_t dilation) { return dilation > 0; })) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(kernel.type_string(),
                                                 ": Dilated rates should be larger than 0, got dilations [",
                                                 absl::StrJoin(dilations, ","), "]"));
}

absl::Status CheckFakeQuantization(const OpKernel& kernel, XlaOpKernelContext*) {
  int bits = 0;
  float min = 0, max = 0;
  HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(kernel.def(), "num_bits", &bits));
  HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(kernel.def(), "min", &min));
  HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(kernel.def(), "max", &max));
  if (bits < 2 || bits > 16) {
    return absl::InvalidArgumentError(
        absl::StrCat(kernel.type_string(), ": num_bits must be between 2 and 16, inclusive, got ", bits));
  }
  if (min < max) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("min has to be smaller than max, was: ", min, " >= ", max));
}

absl::Status CheckFakeQuantizationGradient(const OpKernel& kernel, XlaOpKernelContext* context) {
  HPU_RETURN_IF_ERROR(CheckFakeQuantization(kernel, context));
  HPU_ASSIGN_OR_RETURN(const TensorShape gradients, OperandShape(context, 0));
  HPU_ASSIGN_OR_RETURN(const TensorShape inputs, OperandShape(context, 1));
  if (gradients == inputs) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("Inputs must have the same size and shape.  Input 0: ",
                                                 gradients.DebugString(), " != input 1: ", inputs.DebugString()));
}

absl::Status CheckGatherNd(const OpKernel&, XlaOpKernelContext* context) {
  HPU_ASSIGN_OR_RETURN(const TensorShape params, OperandShape(context, 0));
  HPU_ASSIGN_OR_RETURN(const TensorShape indices, OperandShape(context, 1));
  if (params.num_elements() > 0 || indices.dims() == 0) return absl::OkStatus();
  int64_t entries = 1;
  for (int i = 0; i + 1 < indices.dims(); ++i) entries *= indices.dim_size(i);
  if (entries == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("Requested more than 0 entries, but params is empty.  Params shape: ", params.DebugString()));
}

// The order of the CPU kernels' checks.
absl::Status CheckConvolution(const OpKernel& kernel, XlaOpKernelContext* context) {
  HPU_ASSIGN_OR_RETURN(const TensorShape images, OperandShape(context, 0));
  HPU_ASSIGN_OR_RETURN(const TensorShape filter, OperandShape(context, 1));
  if (filter.num_elements() == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "filter must not have zero elements (i.e. all dimensions must be non-zero), got ", filter.DebugString()));
  }
  std::string format = "NHWC";
  HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(kernel.def(), "data_format", &format));
  const int channels = absl::StartsWith(format, "NC") ? 1 : images.dims() - 1;
  if (channels < 0 || channels >= images.dims() || images.dim_size(channels) > 0) return absl::OkStatus();
  return absl::InvalidArgumentError("grouped convolution must have at least one group: 0 groups");
}

absl::Status CheckListItem(const OpKernel&, XlaOpKernelContext* context) {
  HPU_ASSIGN_OR_RETURN(const TensorShape index, OperandShape(context, 1));
  if (index.dims() == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("Expected argument 1 to be a scalar. Received a tensor of shape ", index.DebugString()));
}

// Operands: x, scale, offset, mean and variance.
absl::Status CheckBatchNormalization(const OpKernel&, XlaOpKernelContext* context) {
  constexpr const char* kNames[] = {"scale", "offset", "estimated_mean", "estimated_variance"};
  for (int i = 0; i < 4; ++i) {
    HPU_ASSIGN_OR_RETURN(const TensorShape shape, OperandShape(context, i + 1));
    if (shape.dims() == 1) continue;
    return absl::InvalidArgumentError(absl::StrCat(kNames[i], " must be 1-dimensional", shape.DebugString()));
  }
  return absl::OkStatus();
}

ArgumentRule RuleOf(ArgumentCheck check) {
  switch (check) {
    case ArgumentCheck::kNone:
    case ArgumentCheck::kAtLeastVector:
    case ArgumentCheck::kVector:
      return nullptr;
    case ArgumentCheck::kAveragePoolingGradient:
      return CheckAveragePoolingGradient;
    case ArgumentCheck::kBatchNormalization:
      return CheckBatchNormalization;
    case ArgumentCheck::kConvolution:
      return CheckConvolution;
    case ArgumentCheck::kDilations:
      return CheckDilations;
    case ArgumentCheck::kFakeQuantization:
      return CheckFakeQuantization;
    case ArgumentCheck::kFakeQuantizationGradient:
      return CheckFakeQuantizationGradient;
    case ArgumentCheck::kGatherNd:
      return CheckGatherNd;
    case ArgumentCheck::kListItem:
      return CheckListItem;
    case ArgumentCheck::kMaxPoolingGradient:
      return CheckMaxPoolingGradient;
    case ArgumentCheck::kMaxPoolingSecondGradient:
      return CheckMaxPoolingSecondGradient;
    case ArgumentCheck::kPooling:
      return CheckPooling;
  }
  return nullptr;
}

}  // namespace

absl::Status CheckRanks(const OpKernel& kernel, XlaOpKernelContext* context) {
  const ArgumentCheck check = FactsOf(kernel.type_string()).argument_check;
  if (check == ArgumentCheck::kAtLeastVector) {
    HPU_ASSIGN_OR_RETURN(const TensorShape shape, OperandShape(context, 0));
    if (shape.dims() > 0) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("Tensor must be at least a vector, but saw shape: ", shape.DebugString()));
  }
  if (check == ArgumentCheck::kVector) {
    HPU_ASSIGN_OR_RETURN(const TensorShape shape, OperandShape(context, 1));
    if (shape.dims() == 1) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(kernel.type_string(), ": input 1 must be a vector, got shape ", shape.DebugString()));
  }
  return absl::OkStatus();
}

absl::Status CheckArguments(const OpKernel& kernel, XlaOpKernelContext* context) {
  const ArgumentRule rule = RuleOf(FactsOf(kernel.type_string()).argument_check);
  return rule == nullptr ? absl::OkStatus() : rule(kernel, context);
}

bool IsEmptySum(const OpKernel& kernel, const std::vector<PartialTensorShape>& results, XlaOpKernelContext* context) {
  // Means over an empty batch would be NaN.
  if (absl::StartsWith(kernel.type_string(), "FusedBatchNormGrad")) {
    const absl::StatusOr<TensorShape> images = OperandShape(context, 1);
    return images.ok() && images->num_elements() == 0;
  }
  if (!FactsOf(kernel.type_string()).sums_windows) return false;
  if (absl::c_all_of(results, [](const PartialTensorShape& shape) { return shape.num_elements() == 0; })) return true;
  for (int i = 0; i < context->num_inputs(); ++i) {
    const absl::StatusOr<TensorShape> shape = OperandShape(context, i);
    if (shape.ok() && shape->num_elements() == 0) return true;
  }
  return false;
}

}  // namespace hpu
