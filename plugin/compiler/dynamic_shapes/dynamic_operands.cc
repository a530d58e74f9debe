#include "plugin/compiler/dynamic_shapes/dynamic_operands.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "plugin/base/status_macros.h"
#include "plugin/compat/lowering_values.h"
#include "plugin/compiler/dynamic_shapes/bounded_arrays.h"
#include "plugin/compiler/dynamic_shapes/compact_arrays.h"
#include "plugin/compiler/dynamic_shapes/dynamic_windows.h"
#include "plugin/compiler/dynamic_shapes/labelled_dimensions.h"
#include "plugin/op_facts/op_facts.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/slicing.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

absl::Status DynamicOperandError(const tensorflow::OpKernel& kernel, int input, absl::string_view reason) {
  return absl::UnimplementedError(absl::StrCat(
      tensorflow::FormatNodeDefForError(kernel.def()), ": ", kernel.type_string(), " is not supported here: ", reason,
      " of input ", input,
      " is dynamic, and the op's lowering might compute with the bound instead of the size. Make the size static, for "
      "example by padding, or move the op out of the jit_compile=True function"));
}

// Describes the first dynamic dimension of an array, or of the arrays of a tuple. Skips dimensions before `first`.
std::optional<std::string> FindDynamicDimension(const xla::Shape& shape, int64_t first) {
  std::optional<std::string> found;
  xla::ShapeUtil::ForEachSubshape(shape, [&](const xla::Shape& part, const xla::ShapeIndex&) {
    for (int64_t d = first; part.IsArray() && d < part.dimensions_size() && !found.has_value(); ++d) {
      if (part.is_dynamic_dimension(d)) found = absl::StrCat("dimension ", d, " of shape ", part.ToString());
    }
  });
  return found;
}

bool IsOverBounds(DynamicSizes dynamic) {
  return dynamic == DynamicSizes::kLikeInput || dynamic == DynamicSizes::kZerosPast ||
         dynamic == DynamicSizes::kOnesPast;
}

// Fails for an array without elements, apart from those whose dynamic dimensions have the bound 0: XLA's builder
// replaces such an array by a static one.
absl::Status CheckEmptyArray(const tensorflow::OpKernel& kernel, int input, const xla::Shape& shape) {
  bool is_empty = false, may_differ = false;
  for (int64_t d = 0; shape.IsArray() && d < shape.dimensions_size(); ++d) {
    is_empty = is_empty || (shape.dimensions(d) == 0 && !shape.is_dynamic_dimension(d));
    may_differ = may_differ || (shape.dimensions(d) > 0 && shape.is_dynamic_dimension(d));
  }
  if (!is_empty || !may_differ) return absl::OkStatus();
  return DynamicOperandError(kernel, input, absl::StrCat("a dimension of the empty shape ", shape.ToString()));
}

// Fails if a dynamic number of a shape meets a static number other than 1: the lowering compares the bounds.
absl::Status CheckBroadcastShapes(const tensorflow::OpKernel& kernel, tensorflow::XlaOpKernelContext* context) {
  std::vector<int64_t> sizes[2];
  std::vector<bool> dynamic[2];
  for (const int i : {0, 1}) {
    const auto status = context->ConstantInputAsIntVector(i, &sizes[i], xla::ValueInferenceMode::kUpperBound);
    if (!status.ok()) return absl::OkStatus();  // the lowering fails
    HPU_RETURN_IF_ERROR(context->ResolveInputDynamismIntoPredVector(i, &dynamic[i]));
  }
  for (size_t d = 1; d <= std::min(sizes[0].size(), sizes[1].size()); ++d) {
    for (const int i : {0, 1}) {
      const size_t here = sizes[i].size() - d, there = sizes[1 - i].size() - d;
      if (!dynamic[i][here] || dynamic[1 - i][there] || sizes[1 - i][there] == 1) continue;
      return DynamicOperandError(kernel, i, absl::StrCat("number ", here));
    }
  }
  return absl::OkStatus();
}

// Labels of an operand's dimensions, as in an Einsum equation.
using Labels = std::vector<std::string>;

// Fails if dimensions with one label differ: if only one is dynamic, or if their bounds differ.
absl::Status CheckFactors(const tensorflow::OpKernel& kernel, tensorflow::XlaOpKernelContext* context,
                          const std::vector<Labels>& labels) {
  absl::flat_hash_map<std::string, std::pair<int64_t, bool>> known;
  for (int i = 0; i < kernel.num_inputs(); ++i) {
    HPU_ASSIGN_OR_RETURN(const xla::Shape shape, context->InputXlaShape(i));
    for (int64_t d = 0; d < shape.dimensions_size() && d < static_cast<int64_t>(labels[i].size()); ++d) {
      const std::pair<int64_t, bool> dimension(shape.dimensions(d), shape.is_dynamic_dimension(d));
      const auto [found, is_new] = known.try_emplace(labels[i][d], dimension);
      if (is_new || found->second == dimension || !(found->second.second || dimension.second)) continue;
      return DynamicOperandError(kernel, i,
                                 absl::StrCat("dimension ", d, " of shape ", shape.ToString(),
                                              ", or the other factor's dimension with which it is combined,"));
    }
  }
  return absl::OkStatus();
}

// For BatchMatMul and its versions.
absl::Status CheckBatchedProduct(const tensorflow::OpKernel& kernel, tensorflow::XlaOpKernelContext* context) {
  std::vector<Labels> labels(2);
  for (const int i : {0, 1}) {
    HPU_ASSIGN_OR_RETURN(const xla::Shape shape, context->InputXlaShape(i));
    bool adjoint = false;
    HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(kernel.def(), i == 0 ? "adj_x" : "adj_y", &adjoint));
    for (int64_t d = 0; d < shape.dimensions_size(); ++d)
      labels[i].push_back(absl::StrCat("batch ", shape.dimensions_size() - d));
    if (shape.dimensions_size() < 2) continue;
    labels[i][shape.dimensions_size() - 1] = (i == 0) == adjoint ? absl::StrCat("free ", i) : "summed";
    labels[i][shape.dimensions_size() - 2] = (i == 0) == adjoint ? "summed" : absl::StrCat("free ", i);
  }
  return CheckFactors(kernel, context, labels);
}

absl::Status CheckEinsum(const tensorflow::OpKernel& kernel, tensorflow::XlaOpKernelContext* context) {
  std::string equation;
  HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(kernel.def(), "equation", &equation));
  const std::vector<std::string> terms = absl::StrSplit(equation.substr(0, equation.find("->")), ',');
  std::vector<Labels> labels(kernel.num_inputs());
  for (int i = 0; i < kernel.num_inputs() && i < static_cast<int>(terms.size()); ++i) {
    HPU_ASSIGN_OR_RETURN(const xla::Shape shape, context->InputXlaShape(i));
    const std::string term = absl::StrReplaceAll(terms[i], {{" ", ""}, {"...", "."}});
    for (const char label : term) {
      if (label != '.') labels[i].push_back(std::string(1, label));
      const int64_t hidden = label == '.' ? shape.dimensions_size() - (static_cast<int64_t>(term.size()) - 1) : 0;
      for (int64_t d = hidden; d > 0; --d) labels[i].push_back(absl::StrCat("hidden ", d));
    }
  }
  return CheckFactors(kernel, context, labels);
}

// Fails if the operands are TensorLists of different shapes. The padder compares only sizes that are dynamic.
absl::Status CheckLists(const tensorflow::OpKernel& kernel, tensorflow::XlaOpKernelContext* context) {
  std::optional<xla::Shape> first;
  for (int i = 0; i < kernel.num_inputs(); ++i) {
    HPU_ASSIGN_OR_RETURN(const std::optional<xla::Shape> shape, ShapeOfOperandValue(context, i));
    if (!shape.has_value() || !shape->IsTuple()) continue;
    if (!first.has_value()) first = shape;
    if (*shape == *first) continue;
    return DynamicOperandError(
        kernel, i, absl::StrCat("a dimension of the list ", shape->ToString(), ", or of ", first->ToString()));
  }
  return absl::OkStatus();
}

// Fails if a dynamic dimension must have a size: the lowering compares the bound.
absl::Status CheckEnsuredShape(const tensorflow::OpKernel& kernel, tensorflow::XlaOpKernelContext* context) {
  HPU_ASSIGN_OR_RETURN(const xla::Shape shape, context->InputXlaShape(0));
  tensorflow::PartialTensorShape ensured;
  HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(kernel.def(), "shape", &ensured));
  for (int64_t d = 0; d < shape.dimensions_size() && d < ensured.dims(); ++d) {
    if (!shape.is_dynamic_dimension(d) || ensured.dim_size(static_cast<int>(d)) < 0) continue;
    return DynamicOperandError(kernel, 0, absl::StrCat("dimension ", d, " of shape ", shape.ToString()));
  }
  return absl::OkStatus();
}

// Fails for operands with which lowerings of the class kAll compute wrong results.
absl::Status CheckExceptions(const tensorflow::OpKernel& kernel, tensorflow::XlaOpKernelContext* context) {
  const std::string& op = kernel.type_string();
  if (op == "Tile") {
    HPU_ASSIGN_OR_RETURN(const xla::Shape input, context->InputXlaShape(0));
    std::vector<int64_t> multiples;
    if (input.is_dynamic() && context->ConstantInputAsIntVector(1, &multiples).ok() &&
        absl::c_linear_search(multiples, 0)) {
      return DynamicOperandError(kernel, 0, "the shape, with a multiple of 0,");
    }
  }
  if (absl::StartsWith(op, "BatchMatMul")) return CheckBatchedProduct(kernel, context);
  if (op == "Reshape" && IsKnownUpToBound(context, 1)) {
    HPU_ASSIGN_OR_RETURN(const xla::Shape input, context->InputXlaShape(0));
    if (xla::ShapeUtil::ElementsIn(input) == 0) return DynamicOperandError(kernel, 1, "the value, for an empty array,");
  }
  if (op == "Einsum") return CheckEinsum(kernel, context);
  if (op == "AddN") return CheckLists(kernel, context);
  if (op == "EnsureShape") return CheckEnsuredShape(kernel, context);
  if (op == "BroadcastGradientArgs") return CheckBroadcastShapes(kernel, context);
  return absl::OkStatus();
}

// Fails if a dynamic dimension meets a static dimension other than 1, counted from the last dimension: if the size is
// 1, the CPU kernel broadcasts, but the lowering does not.
absl::Status CheckBroadcast(const tensorflow::OpKernel& kernel, tensorflow::XlaOpKernelContext* context) {
  struct Dimension {
    int input;
    int64_t index;
    bool dynamic;
    bool broadcasts;
  };
  const bool selects = absl::StartsWith(kernel.type_string(), "Select");
  const bool is_entropy = kernel.type_string() == "SoftmaxCrossEntropyWithLogits";
  std::vector<std::vector<Dimension>> positions;
  std::vector<xla::Shape> shapes;
  for (int i = 0; i < kernel.num_inputs(); ++i) {
    HPU_ASSIGN_OR_RETURN(shapes.emplace_back(), context->InputXlaShape(i));
    positions.resize(std::max<size_t>(positions.size(), shapes.back().dimensions_size()));
  }
  for (int i = 0; i < kernel.num_inputs(); ++i) {
    const bool selects_rows = kernel.type_string() == "Select" && i == 0 && shapes[0].dimensions_size() == 1;
    const int64_t rank = selects_rows ? static_cast<int64_t>(positions.size()) : shapes[i].dimensions_size();
    for (int64_t d = 0; d < shapes[i].dimensions_size(); ++d) {
      const bool dynamic = shapes[i].is_dynamic_dimension(d);
      positions[rank - 1 - d].push_back({i, d, dynamic, !dynamic && shapes[i].dimensions(d) == 1});
    }
  }
  for (const std::vector<Dimension>& position : positions) {
    const auto is_static = [](const Dimension& one) { return !one.dynamic && !one.broadcasts; };
    const auto dynamic = absl::c_find_if(position, [](const Dimension& one) { return one.dynamic; });
    // tf2xla broadcasts to the bounds: a condition, and the operands of a cross entropy.
    const auto lacks = [&](int input) {
      return absl::c_none_of(position, [&](const Dimension& one) { return one.input == input && one.dynamic; });
    };
    const bool stays_static = (selects && lacks(0)) || (is_entropy && (lacks(0) || lacks(1)));
    if (dynamic == position.end() || (absl::c_none_of(position, is_static) && !stays_static)) continue;
    return DynamicOperandError(
        kernel, dynamic->input,
        absl::StrCat("dimension ", dynamic->index, " of shape ", shapes[dynamic->input].ToString(),
                     ", which meets a static dimension of another input or none,"));
  }
  return absl::OkStatus();
}

// Whether tf2xla's lowering of an op in the class kLabelled is right for these operands. In its results, sizes that
// depend on values stay comparable with other sizes.
bool IsRightWithoutLabels(const tensorflow::OpKernel& kernel, tensorflow::XlaOpKernelContext* context) {
  const std::string& op = kernel.type_string();
  if (op == "SelectV2") return CheckBroadcast(kernel, context).ok();
  if (op != "GatherV2") return false;
  int64_t axis = 0;
  const absl::StatusOr<xla::Shape> shape = context->InputXlaShape(0);
  if (!shape.ok() || !context->ConstantInputAsIntScalar(2, &axis).ok()) return false;
  if (axis < 0) axis += shape->dimensions_size();
  for (int64_t d = 0; d < shape->dimensions_size(); ++d) {
    if (d != axis && shape->is_dynamic_dimension(d)) return false;
  }
  return true;
}

// Whether a number behind the first one of a compile-time constant depends on a dynamic size.
bool HasDynamicRest(tensorflow::XlaOpKernelContext* context, int input) {
  std::vector<bool> dynamic;
  return !context->ResolveInputDynamismIntoPredVector(input, &dynamic).ok() || dynamic.empty() ||
         std::any_of(dynamic.begin() + 1, dynamic.end(), [](bool one) { return one; });
}

// Runs the lowering of Unique for a vector whose elements past the size are copies of the first element, so they are no
// further values.
absl::Status LowerUnique(tensorflow::OpKernel* lowering, tensorflow::OpKernelContext* context) {
  tensorflow::XlaOpKernelContext xla_context(context);
  HPU_ASSIGN_OR_RETURN(const std::optional<xla::Shape> shape, ShapeOfOperandValue(&xla_context, 0));
  if (!shape.has_value() || shape->is_static()) {
    lowering->Compute(context);
    return context->status();
  }
  const xla::XlaOp operand = xla_context.Input(0), size = xla::GetDimensionSize(operand, 0);
  const xla::XlaOp padded = xla::RemoveDynamicDimension(operand, 0);
  const xla::XlaOp first = xla::Reshape(xla::SliceInDim(padded, 0, 1, 1, 0), {});
  {
    const OperandReplacement replacement(context, 0, ReplacePast(padded, size, 0, first));
    lowering->Compute(context);
  }
  HPU_RETURN_IF_ERROR(context->status());
  HPU_RETURN_IF_ERROR(ReplaceResult(context, 0, [&](xla::XlaOp values) {  // the empty vector has no first element
    const xla::XlaOp count = xla::Min(xla::GetDimensionSize(values, 0), size);
    return xla::SetDimensionSize(xla::RemoveDynamicDimension(values, 0), count, 0);
  }));
  return ReplaceResult(context, 1, [&](xla::XlaOp positions) { return xla::SetDimensionSize(positions, size, 0); });
}

// Draws for the bounds in one dimension, because the numbers depend on the linear index by the sizes. Returns false if
// the shape is static.
absl::StatusOr<bool> Draw(tensorflow::OpKernel* lowering, tensorflow::OpKernelContext* context) {
  tensorflow::XlaOpKernelContext xla_context(context);
  if (!IsKnownUpToBound(&xla_context, 0)) return false;
  std::vector<int64_t> bounds;
  HPU_RETURN_IF_ERROR(xla_context.ConstantInputAsIntVector(0, &bounds, xla::ValueInferenceMode::kUpperBound));
  std::vector<bool> dynamic;
  HPU_RETURN_IF_ERROR(xla_context.ResolveInputDynamismIntoPredVector(0, &dynamic));
  const int64_t elements = absl::c_accumulate(bounds, int64_t{1}, std::multiplies<>());
  const xla::XlaOp shape = xla::ConvertElementType(xla_context.Input(0), xla::S32);
  tensorflow::Tensor linear(xla_context.input_type(0), {1});
  if (linear.dtype() == tensorflow::DT_INT32) linear.flat<int32_t>()(0) = static_cast<int32_t>(elements);
  if (linear.dtype() == tensorflow::DT_INT64) linear.flat<int64_t>()(0) = elements;
  {
    const OperandReplacement replacement(context, 0, linear);
    lowering->Compute(context);
  }
  HPU_RETURN_IF_ERROR(context->status());
  HPU_RETURN_IF_ERROR(ReplaceResult(context, 0, [&](xla::XlaOp drawn) {
    xla::Shape bounded = xla::ShapeUtil::MakeShape(xla::S32, bounds);
    std::vector<xla::XlaOp> sizes;
    for (int64_t d = 0; d < bounded.dimensions_size(); ++d) {
      sizes.push_back(xla::Reshape(xla::SliceInDim(shape, d, d + 1, 1, 0), {}));
      bounded.set_dynamic_dimension(d, dynamic[d]);
    }
    xla::XlaOp result = Expand(drawn, bounded, sizes);
    for (int64_t d = 0; d < bounded.dimensions_size(); ++d) {
      if (dynamic[d]) result = xla::SetDimensionSize(result, sizes[d], d);
    }
    return result;
  }));
  return true;
}

// Lowers for the bound of a list's maximum number of elements. Returns false if the number is static.
absl::StatusOr<bool> LowerForCapacity(tensorflow::OpKernel* lowering, tensorflow::OpKernelContext* context) {
  tensorflow::XlaOpKernelContext xla_context(context);
  if (!IsKnownUpToBound(&xla_context, 1)) return false;
  int64_t bound = 0;
  HPU_RETURN_IF_ERROR(xla_context.ConstantInputAsIntScalar(1, &bound, xla::ValueInferenceMode::kUpperBound));
  const OperandReplacement replacement(context, 1, tensorflow::Tensor(static_cast<int32_t>(bound)));
  lowering->Compute(context);
  HPU_RETURN_IF_ERROR(context->status());
  return true;
}

}  // namespace

absl::Status CheckDynamicOperands(const tensorflow::OpKernel& kernel, const std::vector<int>& constants,
                                  tensorflow::XlaOpKernelContext* context) {
  const DynamicSizes dynamic = FactsOf(kernel.type_string()).dynamic;
  for (int i = 0; i < kernel.num_inputs(); ++i) {
    HPU_ASSIGN_OR_RETURN(const std::optional<xla::Shape> shape, ShapeOfOperandValue(context, i));
    if (!shape.has_value()) continue;
    HPU_RETURN_IF_ERROR(CheckEmptyArray(kernel, i, *shape));
    const auto found = absl::c_linear_search(constants, i) ? FindDynamicDimension(*shape, 0) : std::nullopt;
    if (found.has_value() && !IsOverBounds(dynamic) && dynamic != DynamicSizes::kLabelled)
      return DynamicOperandError(kernel, i, *found);
  }
  if (dynamic == DynamicSizes::kWindows) return absl::OkStatus();  // LowerWindows checks
  if (dynamic == DynamicSizes::kAll) return CheckExceptions(kernel, context);
  if (dynamic == DynamicSizes::kBroadcast) return CheckBroadcast(kernel, context);
  if (dynamic == DynamicSizes::kFirstPast) {
    HPU_ASSIGN_OR_RETURN(const xla::Shape shape, context->InputXlaShape(0));
    // Copies of NaN would count as further values.
    const bool copies =
        !tensorflow::DataTypeIsFloating(context->input_type(0)) && xla::ShapeUtil::ElementsIn(shape) > 0;
    const auto found = copies && shape.dimensions_size() == 1 ? std::nullopt : FindDynamicDimension(shape, 0);
    return found.has_value() ? DynamicOperandError(kernel, 0, *found) : absl::OkStatus();
  }
  if (dynamic == DynamicSizes::kLabelled) {
    if (IsRightWithoutLabels(kernel, context)) return absl::OkStatus();
    HPU_RETURN_IF_ERROR(CheckLabels(kernel, LabelsOf(kernel, context), context));
    for (const int i : constants) {
      if (IsKnownUpToBound(context, i)) return DynamicOperandError(kernel, i, "the value");
    }
    return absl::OkStatus();
  }
  const int64_t first_dimension = dynamic == DynamicSizes::kBatch ? 1 : 0;
  for (int i = IsOverBounds(dynamic) || dynamic == DynamicSizes::kDraw ? 1 : 0; i < kernel.num_inputs(); ++i) {
    HPU_ASSIGN_OR_RETURN(const std::optional<xla::Shape> shape, ShapeOfOperandValue(context, i));
    if (const auto found = shape.has_value() ? FindDynamicDimension(*shape, first_dimension) : std::nullopt) {
      return DynamicOperandError(kernel, i, *found);
    }
    if (dynamic == DynamicSizes::kCapacity) continue;
    if (absl::c_linear_search(constants, i) && IsKnownUpToBound(context, i) &&
        (dynamic != DynamicSizes::kBatch || i > 0 || HasDynamicRest(context, i))) {
      return DynamicOperandError(kernel, i, "the value");
    }
  }
  return absl::OkStatus();
}

bool HasDynamicArrays(const std::vector<int>& constants, tensorflow::XlaOpKernelContext* context) {
  bool is_dynamic = false;
  for (int i = 0; i < context->num_inputs() && !is_dynamic; ++i) {
    const absl::StatusOr<std::optional<xla::Shape>> shape = ShapeOfOperandValue(context, i);
    is_dynamic = shape.ok() && shape->has_value() && (*shape)->is_dynamic();
  }
  // Evaluates the operations that compute the constants, which may take long.
  return is_dynamic && absl::c_none_of(constants, [&](int i) { return IsKnownUpToBound(context, i); });
}

absl::Status LowerOverBounds(tensorflow::OpKernel* lowering, tensorflow::OpKernel* unpadded,
                             tensorflow::OpKernelContext* context) {
  tensorflow::XlaOpKernelContext xla_context(context);
  const DynamicSizes dynamic = FactsOf(lowering->type_string()).dynamic;
  if (dynamic == DynamicSizes::kWindows) {
    HPU_ASSIGN_OR_RETURN(const bool is_dynamic, HasDynamicWindows(&xla_context));
    if (is_dynamic) return LowerWindows(lowering, unpadded, context);
    HPU_ASSIGN_OR_RETURN(const bool is_lowered, LowerPaddedAverage(lowering, context));
    if (is_lowered) return absl::OkStatus();
  }
  if (dynamic == DynamicSizes::kDraw) {
    HPU_ASSIGN_OR_RETURN(const bool drawn, Draw(lowering, context));
    if (drawn) return absl::OkStatus();
  }
  if (dynamic == DynamicSizes::kFirstPast) return LowerUnique(lowering, context);
  if (dynamic == DynamicSizes::kLabelled && !IsRightWithoutLabels(*lowering, &xla_context)) {
    return LowerWithLabels(lowering, LabelsOf(*lowering, &xla_context), context);
  }
  if (dynamic == DynamicSizes::kCapacity) {
    HPU_ASSIGN_OR_RETURN(const bool is_lowered, LowerForCapacity(lowering, context));
    if (is_lowered) return absl::OkStatus();
  }
  std::optional<xla::Shape> shape;
  if (IsOverBounds(dynamic)) {
    HPU_ASSIGN_OR_RETURN(shape, ShapeOfOperandValue(&xla_context, 0));
  }
  if (!shape.has_value() || !shape->IsArray() || shape->is_static()) {
    lowering->Compute(context);
    return context->status();
  }
  xla::XlaBuilder* const builder = xla_context.builder();
  HPU_ASSIGN_OR_RETURN(BoundedArray operand, ToBounded(xla_context.Input(0)));
  const xla::XlaOp past = dynamic == DynamicSizes::kOnesPast ? xla::One(builder, shape->element_type())
                                                             : xla::Zero(builder, shape->element_type());
  if (dynamic != DynamicSizes::kLikeInput) operand.array = ReplacePast(operand, past);
  {
    const OperandReplacement replacement(context, 0, operand.array);
    lowering->Compute(context);
  }
  HPU_RETURN_IF_ERROR(context->status());
  return ReplaceResult(context, 0, [&](xla::XlaOp result) { return SetSizes(result, operand.sizes); });
}

}  // namespace hpu
