#include "plugin/compiler/dynamic_shapes/labelled_dimensions.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "plugin/base/status_macros.h"
#include "plugin/compat/lowering_values.h"
#include "plugin/op_facts/op_facts.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/literal.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using tensorflow::OpKernel;
using tensorflow::XlaOpKernelContext;
using xla::XlaOp;

// Labels of an array.
struct ArrayLabels {
  std::vector<std::string> dimensions;  // empty: a static dimension
  std::string past;                     // what elements past a size become; empty: they stay
  bool broadcasts = false;
};

// `text` is the part of the labels for one operand or result.
ArrayLabels LabelsOfArray(absl::string_view text, int64_t rank) {
  ArrayLabels labels;
  std::vector<std::string> tokens = absl::StrSplit(text, ' ', absl::SkipEmpty());
  if (!tokens.empty() && tokens.back()[0] == '=') {
    labels.past = tokens.back().substr(1);
    tokens.pop_back();
  }
  const int64_t others = std::max<int64_t>(0, rank - (static_cast<int64_t>(tokens.size()) - 1));
  for (const std::string& token : tokens) {
    if (token == "_") {
      labels.dimensions.emplace_back();
    } else if (token == "...") {
      labels.dimensions.resize(labels.dimensions.size() + others);
    } else if (token == "*") {
      for (int64_t d = 0; d < others; ++d) labels.dimensions.push_back(absl::StrCat("*", d));
    } else if (token == "^") {
      labels.broadcasts = true;
      for (int64_t d = 0; d < rank; ++d) labels.dimensions.push_back(absl::StrCat("^", rank - d));
    } else {
      labels.dimensions.push_back(token);
    }
  }
  labels.dimensions.resize(rank);
  return labels;
}

// Labels of operand or result `i`.
absl::string_view PartOf(absl::string_view labels, bool of_results, int i) {
  const std::pair<absl::string_view, absl::string_view> sides = absl::StrSplit(labels, "->");
  const std::vector<absl::string_view> parts = absl::StrSplit(of_results ? sides.second : sides.first, ',');
  return i < static_cast<int>(parts.size()) ? parts[i] : "";
}

absl::Status LabelError(const OpKernel& kernel, int input, int64_t d, const xla::Shape& shape,
                        absl::string_view reason) {
  return absl::UnimplementedError(absl::StrCat(
      tensorflow::FormatNodeDefForError(kernel.def()), ": ", kernel.type_string(), " is not supported here: dimension ",
      d, " of shape ", shape.ToString(), " of input ", input, " is dynamic", reason));
}

// An array of the bounds, whose elements past the sizes are replaced.
XlaOp PaddedBy(XlaOp operand, const xla::Shape& shape, const std::string& past) {
  XlaOp padded = operand;
  for (int64_t d = 0; d < shape.dimensions_size(); ++d) {
    if (shape.is_dynamic_dimension(d)) padded = xla::RemoveDynamicDimension(padded, d);
  }
  if (past.empty()) return padded;
  xla::XlaBuilder* const builder = operand.builder();
  const xla::PrimitiveType type = shape.element_type();
  const XlaOp by = past == "max"      ? xla::MaxValue(builder, type)
                   : past == "lowest" ? xla::MinValue(builder, type)
                   : past == "-1"     ? xla::ConstantR0WithType(builder, type, -1)
                   : past == "1"      ? xla::One(builder, type)
                                      : xla::Zero(builder, type);
  for (int64_t d = 0; d < shape.dimensions_size(); ++d) {
    if (!shape.is_dynamic_dimension(d)) continue;
    const XlaOp iota = xla::Iota(builder, xla::ShapeUtil::MakeShape(xla::S32, shape.dimensions()), d);
    padded =
        xla::Select(xla::Lt(iota, xla::GetDimensionSize(operand, d)), padded,
                    past == "index" ? xla::ConvertElementType(iota, type) : xla::Broadcast(by, shape.dimensions()));
  }
  return padded;
}

// A vector with the size of dimension `d`.
XlaOp VectorAlong(XlaOp array, const xla::Shape& shape, int64_t d) {
  std::vector<int64_t> others;
  for (int64_t i = 0; i < shape.dimensions_size(); ++i) {
    if (i != d) others.push_back(i);
  }
  const XlaOp numbers = xla::ConvertElementType(xla::Ne(array, array), xla::S32);
  return xla::Reduce(numbers, xla::Zero(array.builder(), xla::S32),
                     xla::CreateScalarAddComputation(xla::S32, array.builder()), others);
}

// A size, and a vector of this size.
struct LabelledSize {
  XlaOp vector;
  XlaOp size;
  int64_t bound;

  // Lets the padder require that both sizes are equal.
  void Require(XlaOp other) {
    vector = xla::Add(vector, other);
    size = xla::GetDimensionSize(vector, 0);
  }
};

// Whether input `i` is known to be one number.
bool IsKnown(XlaOpKernelContext* context, int i, int64_t number) {
  std::vector<int64_t> values;
  return context->ConstantInputReshapedToIntVector(i, &values).ok() && values == std::vector<int64_t>{number};
}

// Labels of MatrixDiag, MatrixDiagPart, MatrixSetDiag and their versions: of the main diagonal, or of any diagonals
// with dynamic batches.
std::string LabelsOfDiagonals(const std::string& op, XlaOpKernelContext* context) {
  const int numbers = absl::StartsWith(op, "MatrixSetDiag") ? 2 : 1;  // first input with a number of a diagonal
  const bool is_main = context->num_inputs() <= numbers || IsKnown(context, numbers, 0);
  if (absl::StartsWith(op, "MatrixDiagPart")) return is_main ? "* n n -> * n" : "* _ _ -> * ...";
  if (absl::StartsWith(op, "MatrixSetDiag")) return is_main ? "* n m, * p -> * n m" : "* _ _, * ... -> * _ _";
  const bool is_square = context->num_inputs() < 4 || (IsKnown(context, 2, -1) && IsKnown(context, 3, -1));
  return is_main && is_square ? "* n -> * n n" : "* _ -> * _ _";
}

// Labels of MirrorPad and its gradient: of the dimensions without padding.
std::string LabelsOfPadding(XlaOpKernelContext* context) {
  xla::Literal paddings;
  if (!context->ConstantInputAsInt64Literal(1, &paddings).ok() || paddings.shape().dimensions_size() != 2) return "";
  std::string labels;
  for (int64_t d = 0; d < paddings.shape().dimensions(0); ++d) {
    const bool is_padded = paddings.Get<int64_t>({d, 0}) != 0 || paddings.Get<int64_t>({d, 1}) != 0;
    absl::StrAppend(&labels, is_padded ? "_ " : absl::StrCat("d", d, " "));
  }
  return absl::StrCat(labels, "->", labels);
}

// Labels of DynamicStitch: of the dimensions of a row.
std::string LabelsOfStitch(XlaOpKernelContext* context) {
  std::string labels;
  const int count = context->num_inputs() / 2;
  for (int i = 0; i < count; ++i) absl::StrAppend(&labels, ",");
  for (int i = 0; i < count; ++i) {
    for (int d = 0; d < context->InputShape(i).dims(); ++d) absl::StrAppend(&labels, "_ ");
    absl::StrAppend(&labels, i + 1 < count ? "*," : "*");
  }
  return labels + "-> _ *";
}

// Labels of Gather and GatherV2: of the batch, of the other dimensions of the slices, and of the indices. tf2xla's
// lowering makes slices of dynamic shape static.
std::string LabelsOfGather(const OpKernel& kernel, XlaOpKernelContext* context) {
  const int64_t rank = context->InputShape(0).dims(), depth = context->InputShape(1).dims();
  int64_t batch = 0, axis = 0;
  const bool has_axis = kernel.num_inputs() > 2;
  if (has_axis && (!tensorflow::GetNodeAttr(kernel.def(), "batch_dims", &batch).ok() ||
                   !context->ConstantInputAsIntScalar(2, &axis).ok())) {
    return "";
  }
  if (batch < 0) batch += depth;
  if (axis < 0) axis += rank;
  std::string indices, inner, slices, result;
  for (int64_t d = 0; d < depth; ++d) absl::StrAppend(d < batch ? &indices : &inner, d < batch ? "b" : "i", d, " ");
  for (int64_t d = 0; d < rank; ++d) {
    const std::string label = absl::StrCat(d < batch ? "b" : d == axis ? "axis" : "s", d, " ");
    slices += label;
    result += d == axis ? inner : label;
  }
  return absl::StrCat(slices, ",", indices, inner, "->", result);
}

}  // namespace

std::string LabelsOf(const OpKernel& kernel, XlaOpKernelContext* context) {
  const std::string& op = kernel.type_string();
  if (absl::StartsWith(op, "Matrix") && absl::StrContains(op, "Diag")) return LabelsOfDiagonals(op, context);
  if (absl::StartsWith(op, "MirrorPad")) return LabelsOfPadding(context);
  if (absl::EndsWith(op, "DynamicStitch")) return LabelsOfStitch(context);
  if (op == "Gather" || op == "GatherV2") return LabelsOfGather(kernel, context);
  if (op == "DenseBincount" && context->InputShape(0).dims() == 2) return "n m =max, , n m -> n _";
  const char* const labels = FactsOf(op).labels;
  return labels == nullptr ? "" : labels;
}

absl::Status CheckLabels(const OpKernel& kernel, absl::string_view labels, XlaOpKernelContext* context) {
  struct Known {
    int64_t bound;
    bool dynamic;
    bool may_broadcast;
  };
  std::map<std::string, std::vector<Known>> known;
  for (int i = 0; i < kernel.num_inputs(); ++i) {
    HPU_ASSIGN_OR_RETURN(const std::optional<xla::Shape> shape, ShapeOfOperandValue(context, i));
    xla::Shape operand;
    if (shape.has_value()) {
      operand = *shape;
    } else if (context->input_type(i) != tensorflow::DT_RESOURCE) {
      HPU_ASSIGN_OR_RETURN(operand, context->InputXlaShape(i));
    }
    if (!operand.IsArray() || (operand.is_static() && xla::ShapeUtil::ElementsIn(operand) == 0)) continue;
    const ArrayLabels array = LabelsOfArray(PartOf(labels, false, i), operand.dimensions_size());
    if (static_cast<int64_t>(array.dimensions.size()) != operand.dimensions_size()) continue;
    for (int64_t d = 0; d < operand.dimensions_size(); ++d) {
      const bool dynamic = operand.is_dynamic_dimension(d);
      if (dynamic && array.dimensions[d].empty()) {
        return LabelError(kernel, i, d, operand,
                          ", and the op's lowering might compute with the bound instead of the size. Make the size "
                          "static, for example by padding, or move the op out of the jit_compile=True function");
      }
      if (array.dimensions[d].empty()) continue;
      std::vector<Known>& others = known[array.dimensions[d]];
      const Known here{operand.dimensions(d), dynamic, array.broadcasts && !dynamic && operand.dimensions(d) == 1};
      for (const Known& other : others) {
        if (here.may_broadcast || other.may_broadcast) continue;
        if (here.bound == other.bound && here.dynamic == other.dynamic) continue;
        if (!here.dynamic && !other.dynamic) continue;
        return LabelError(kernel, i, d, operand,
                          ", or the dimension of another input with which it is combined; both must have one bound. "
                          "Make the size static, or move the op out of the jit_compile=True function");
      }
      others.push_back(here);
    }
  }
  return absl::OkStatus();
}

absl::Status LowerWithLabels(OpKernel* lowering, absl::string_view labels, tensorflow::OpKernelContext* context) {
  XlaOpKernelContext xla_context(context);
  std::map<std::string, LabelledSize> sizes;
  std::vector<std::pair<int, XlaOp>> replaced;
  for (int i = 0; i < context->num_inputs(); ++i) {
    HPU_ASSIGN_OR_RETURN(const std::optional<xla::Shape> shape, ShapeOfOperandValue(&xla_context, i));
    if (!shape.has_value() || !shape->IsArray() || shape->is_static()) continue;
    const ArrayLabels array = LabelsOfArray(PartOf(labels, false, i), shape->dimensions_size());
    const XlaOp operand = xla_context.Input(i);
    for (int64_t d = 0; d < shape->dimensions_size(); ++d) {
      if (!shape->is_dynamic_dimension(d)) continue;
      const XlaOp vector = VectorAlong(operand, *shape, d);
      const LabelledSize here{vector, xla::GetDimensionSize(operand, d), shape->dimensions(d)};
      const auto [found, is_new] = sizes.try_emplace(array.dimensions[d], here);
      if (!is_new) found->second.Require(vector);
    }
    replaced.emplace_back(i, PaddedBy(operand, *shape, array.past));
  }
  {
    std::vector<std::unique_ptr<OperandReplacement>> replacements;
    for (const auto& [i, operand] : replaced) {
      replacements.push_back(std::make_unique<OperandReplacement>(context, i, operand));
    }
    lowering->Compute(context);
  }
  HPU_RETURN_IF_ERROR(context->status());
  for (int i = 0; i < context->num_outputs(); ++i) {
    const absl::string_view part = PartOf(labels, true, i);
    if (sizes.empty() || part.empty()) continue;
    absl::Status status;
    HPU_RETURN_IF_ERROR(ReplaceResult(context, i, [&](XlaOp result) {
      const absl::StatusOr<xla::Shape> shape = result.builder()->GetShape(result);
      if (!shape.ok()) return result;
      const ArrayLabels array = LabelsOfArray(part, shape->dimensions_size());
      for (int64_t d = 0; d < shape->dimensions_size(); ++d) {
        const auto found = sizes.find(array.dimensions[d]);
        if (found == sizes.end()) continue;
        const int64_t bound = found->second.bound;
        if (shape->dimensions(d) == bound) {
          result = xla::SetDimensionSize(result, found->second.size, d);
        } else if (status.ok()) {
          status = absl::UnimplementedError(absl::StrCat(lowering->name(), ": dimension ", d, " of result ", i,
                                                         " has the bound ", shape->dimensions(d), ", expected ", bound,
                                                         "; make the sizes static"));
        }
      }
      return result;
    }));
    HPU_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

}  // namespace hpu
