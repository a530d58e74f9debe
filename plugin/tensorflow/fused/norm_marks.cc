// Marked calls of layer normalisation along the last dimension.
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "plugin/base/status_macros.h"
#include "plugin/compiler/lowerings/marked_call_builder.h"
#include "plugin/compiler/lowerings/rows.h"
#include "plugin/passes/analysis/constant_value.h"
#include "plugin/program/marked_call.h"
#include "plugin/tensorflow/fused/marked_fused_op.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using tensorflow::NodeDef;
using tensorflow::XlaOpKernelContext;
using xla::XlaOp;
using Values = std::vector<XlaOp>;

// What the marked calls need to know about a node that normalises rows.
struct RowNorm {
  float epsilon = 0;
  xla::PrimitiveType type = xla::PRIMITIVE_TYPE_INVALID;  // of x
  std::vector<int64_t> moments;                           // dimensions of the ops' mean and inverse deviation
  std::vector<int64_t> weights;                           // dimensions of the ops' weights
  int64_t size = 0;                                       // of a row
};

// nullopt unless the node normalises the last of at least two dimensions of x (input 0) with weights of shape [size],
// or [1, ..., 1, size] (Keras 3).
std::optional<RowNorm> FindRowNorm(XlaOpKernelContext* context, const NodeDef& node, const std::vector<int>& weights) {
  const absl::StatusOr<xla::Shape> x = context->InputXlaShape(0);
  if (!x.ok() || x->dimensions_size() < 2) return std::nullopt;
  const std::vector<int64_t> axes = passes::WholeNumbersOf(node.attr().at("axes"));
  const int64_t last = x->dimensions_size() - 1;
  if (axes.size() != 1 || (axes[0] != -1 && axes[0] != last)) return std::nullopt;
  RowNorm norm;
  norm.size = x->dimensions(last);
  for (const int input : weights) {
    const absl::StatusOr<xla::Shape> shape = context->InputXlaShape(input);
    if (!shape.ok() || shape->dimensions_size() == 0) return std::nullopt;
    if (shape->dimensions().back() != norm.size || xla::ShapeUtil::ElementsIn(*shape) != norm.size) return std::nullopt;
    norm.weights.assign(shape->dimensions().begin(), shape->dimensions().end());
  }
  norm.type = x->element_type();
  const tensorflow::AttrValue& epsilon = node.attr().at("epsilon");
  norm.epsilon = epsilon.has_tensor() ? static_cast<float>(passes::NumberOf(epsilon).value_or(0)) : epsilon.f();
  norm.moments.assign(x->dimensions().begin(), x->dimensions().end());
  norm.moments.back() = 1;
  return norm;
}

std::string EpsilonText(float epsilon) { return absl::StrFormat("%.9g", epsilon); }

XlaOp ToFloat(XlaOp x) { return xla::ConvertElementType(x, xla::F32); }

XlaOp SumsOfColumns(XlaOp x) {
  std::vector<int64_t> rows(x.builder()->GetShape(x)->dimensions_size() - 1);
  std::iota(rows.begin(), rows.end(), 0);
  return xla::Reduce(x, xla::Zero(x.builder(), xla::F32), xla::CreateScalarAddComputation(xla::F32, x.builder()), rows);
}

XlaOp MeanOfRows(XlaOp x) {
  const xla::Shape shape = *x.builder()->GetShape(x);
  const XlaOp sum = SumsOfRows(x);
  return sum / xla::ScalarLike(sum, shape.dimensions(shape.dimensions_size() - 1));
}

// Repeats a value of each column in the shape of x.
XlaOp AlongColumns(XlaOp values, XlaOp x) {
  const xla::Shape shape = *x.builder()->GetShape(x);
  return xla::BroadcastInDim(values, shape.dimensions(), {shape.dimensions_size() - 1});
}

// y, mean and inverse deviation of x, beta and gamma.
XlaOp LayerNorm(const Values& operands, float epsilon, xla::PrimitiveType type) {
  const XlaOp x = ToFloat(operands[0]);
  const XlaOp mean = MeanOfRows(x);
  const XlaOp centred = x - AlongRows(mean, x);
  const XlaOp variance = MeanOfRows(centred * centred);
  const XlaOp istd = xla::Rsqrt(variance + xla::ScalarLike(variance, epsilon));
  const XlaOp y = centred * (AlongRows(istd, x) * AlongColumns(operands[2], x)) + AlongColumns(operands[1], x);
  return xla::Tuple(x.builder(), {xla::ConvertElementType(y, type), mean, istd});
}

// dx, dbeta and dgamma of x, dy, mean, inverse deviation and gamma.
XlaOp LayerNormGradient(const Values& operands, xla::PrimitiveType type) {
  const XlaOp x = ToFloat(operands[0]), dy = ToFloat(operands[1]);
  const XlaOp istd = AlongRows(operands[3], x);
  const XlaOp normal = (x - AlongRows(operands[2], x)) * istd;
  const XlaOp d = dy * AlongColumns(operands[4], x);
  const XlaOp shift = AlongRows(MeanOfRows(d), x) + normal * AlongRows(MeanOfRows(d * normal), x);
  const XlaOp dx = xla::ConvertElementType(istd * (d - shift), type);
  return xla::Tuple(x.builder(), {dx, SumsOfColumns(dy), SumsOfColumns(dy * normal)});
}

absl::StatusOr<bool> MarkLayerNorm(XlaOpKernelContext* context, const NodeDef& node) {
  const std::optional<RowNorm> norm = FindRowNorm(context, node, /*weights=*/{1, 2});
  if (!norm.has_value()) return false;
  const Values operands = {context->Input(0), ToFloat(xla::Reshape(context->Input(1), {norm->size})),
                           ToFloat(xla::Reshape(context->Input(2), {norm->size}))};
  HPU_ASSIGN_OR_RETURN(const XlaOp results,
                       MarkedCall(kLayerNorm, EpsilonText(norm->epsilon), operands,
                                  [&](const Values& x) { return LayerNorm(x, norm->epsilon, norm->type); }));
  context->SetOutput(0, xla::GetTupleElement(results, 0));
  for (const int result : {1, 2}) {
    const XlaOp moments = xla::Reshape(xla::GetTupleElement(results, result), norm->moments);
    context->SetOutput(result, xla::ConvertElementType(moments, norm->type));
  }
  return true;
}

absl::StatusOr<bool> MarkLayerNormGradient(XlaOpKernelContext* context, const NodeDef& node) {
  const std::optional<RowNorm> norm = FindRowNorm(context, node, /*weights=*/{4});
  if (!norm.has_value()) return false;
  const std::vector<int64_t> rows(norm->moments.begin(), norm->moments.end() - 1);
  const Values operands = {context->Input(0), context->Input(1), ToFloat(xla::Reshape(context->Input(2), rows)),
                           ToFloat(xla::Reshape(context->Input(3), rows)),
                           ToFloat(xla::Reshape(context->Input(4), {norm->size}))};
  HPU_ASSIGN_OR_RETURN(const XlaOp results,
                       MarkedCall(kLayerNormGradient, EpsilonText(norm->epsilon), operands,
                                  [&](const Values& x) { return LayerNormGradient(x, norm->type); }));
  context->SetOutput(0, xla::ConvertElementType(xla::GetTupleElement(results, 0), norm->type));
  for (const int result : {1, 2}) {
    const XlaOp weights = xla::Reshape(xla::GetTupleElement(results, result), norm->weights);
    context->SetOutput(result, xla::ConvertElementType(weights, norm->type));
  }
  return true;
}

const MarkedFusedOp layer_norm_mark("HabanaLayerNorm", "", kLayerNorm, MarkLayerNorm);
const MarkedFusedOp layer_norm_v2_mark("HabanaLayerNormV2", "", kLayerNorm, MarkLayerNorm);
const MarkedFusedOp layer_norm_gradient_mark("HabanaLayerNormGrad", "", kLayerNormGradient, MarkLayerNormGradient);
const MarkedFusedOp layer_norm_gradient_v2_mark("HabanaLayerNormGradV2", "", kLayerNormGradient, MarkLayerNormGradient);

}  // namespace
}  // namespace hpu
