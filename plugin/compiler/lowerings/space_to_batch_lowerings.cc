// Lowerings of SpaceToBatchND and BatchToSpaceND for computed sizes: the batch, spatial dimensions, and paddings or
// crops behind the last element.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/dynamic_shapes/bounded_arrays.h"
#include "plugin/compiler/dynamic_shapes/compact_arrays.h"
#include "plugin/compiler/dynamic_shapes/size_numbers.h"
#include "plugin/compiler/lowerings/sized_lowering.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using tensorflow::XlaOpKernelContext;
using xla::XlaOp;

int64_t ProductOf(const std::vector<int64_t>& numbers) {
  int64_t product = 1;
  for (const int64_t number : numbers) product *= number;
  return product;
}

std::vector<int64_t> BoundsOfSizes(const std::vector<SizeNumber>& sizes) {
  std::vector<int64_t> bounds;
  for (const SizeNumber& size : sizes) bounds.push_back(size.high);
  return bounds;
}

// Operands of the op.
struct BlockOperands {
  xla::Shape shape;                // of input 0
  std::vector<int64_t> block;      // by spatial dimension
  std::vector<SizeNumber> border;  // paddings or crops: two for each spatial dimension
  std::vector<SizeNumber> sizes;   // of input 0
  int64_t blocks = 1;              // product of `block`

  bool IsComputed() const {
    return shape.is_dynamic() || absl::c_any_of(border, [](const SizeNumber& one) { return !one.known.has_value(); });
  }
};

absl::StatusOr<BlockOperands> OperandsOf(XlaOpKernelContext* context) {
  BlockOperands operands;
  HPU_ASSIGN_OR_RETURN(operands.shape, context->InputXlaShape(0));
  HPU_RETURN_IF_ERROR(context->ConstantInputReshapedToIntVector(1, &operands.block));
  HPU_ASSIGN_OR_RETURN(operands.border, SizeNumbersOf(context, 2));
  const size_t spatial = operands.block.size();
  if (operands.border.size() != 2 * spatial || operands.shape.dimensions_size() < static_cast<int64_t>(spatial) + 1 ||
      absl::c_any_of(operands.block, [](int64_t one) { return one < 1; })) {
    return absl::InvalidArgumentError(absl::StrCat("the input must have a batch and ", spatial,
                                                   " spatial dimensions, and borders of shape [", spatial, ", 2], got ",
                                                   operands.shape.ToString()));
  }
  for (int64_t d = 0; d < operands.shape.dimensions_size(); ++d) {
    operands.sizes.push_back(SizeOf(context->Input(0), operands.shape, d));
  }
  for (size_t i = 0; i < spatial; ++i) {
    if (operands.border[2 * i].known.has_value()) continue;
    return absl::UnimplementedError("a padding or crop before the first element depends on sizes; make it static");
  }
  operands.blocks = ProductOf(operands.block);
  return operands;
}

// A size divided by `divisor`, rounded down.
SizeNumber Quotient(const SizeNumber& size, int64_t divisor) {
  if (size.known.has_value()) return SizeNumber::Known(*size.known / divisor);
  return SizeNumber::Computed(xla::Div(size.value, xla::ScalarLike(size.value, divisor)), 0, size.high / divisor);
}

class SpaceToBatchLowering : public SizedLowering {
 public:
  using SizedLowering::SizedLowering;

  void Compile(XlaOpKernelContext* context) override {
    const absl::StatusOr<BlockOperands> found = OperandsOf(context);
    if (!found.ok() || !found->IsComputed()) {
      OP_REQUIRES(context, !absl::IsUnimplemented(found.status()), found.status());
      lowering().Compute(context->op_kernel_context());
      return;
    }
    const BlockOperands& operands = *found;
    xla::XlaBuilder* const builder = context->builder();
    const auto spatial = static_cast<int64_t>(operands.block.size());
    XlaOp value = RemoveSizes(context->Input(0), operands.shape);
    const XlaOp zero = xla::Zero(builder, operands.shape.element_type());
    std::vector<SizeNumber> sizes = operands.sizes;  // of the result
    xla::PaddingConfig padding = xla::MakeNoPaddingConfig(operands.shape.dimensions_size());
    for (int64_t i = 0; i < spatial; ++i) {
      const int64_t d = i + 1, bound = operands.shape.dimensions(d), low = *operands.border[2 * i].known;
      if (!operands.sizes[d].known.has_value()) value = ReplacePast(value, operands.sizes[d].value, d, zero);
      const SizeNumber padded = Plus(Plus(operands.sizes[d], operands.border[2 * i]), operands.border[2 * i + 1]);
      sizes[d] = Quotient(padded, operands.block[i]);
      padding.mutable_dimensions(static_cast<int>(d))->set_edge_padding_low(low);
      padding.mutable_dimensions(static_cast<int>(d))
          ->set_edge_padding_high(sizes[d].high * operands.block[i] - low - bound);
    }
    value = xla::Pad(value, zero, padding);
    // [batch, outer, block, outer, block, ..., rest] becomes [block, ..., batch, outer, ..., rest].
    std::vector<int64_t> split = {operands.shape.dimensions(0)}, order;
    for (int64_t i = 0; i < spatial; ++i) {
      split.insert(split.end(), {sizes[i + 1].high, operands.block[i]});
      order.push_back(2 * i + 2);
    }
    order.push_back(0);
    for (int64_t i = 0; i < spatial; ++i) order.push_back(2 * i + 1);
    for (int64_t d = spatial + 1; d < operands.shape.dimensions_size(); ++d) {
      order.push_back(static_cast<int64_t>(split.size()));
      split.push_back(operands.shape.dimensions(d));
    }
    value = xla::Transpose(xla::Reshape(value, split), order);
    sizes[0] = Times(operands.sizes[0], SizeNumber::Known(operands.blocks));
    std::vector<int64_t> bounds = BoundsOfSizes(sizes);
    if (!operands.sizes[0].known.has_value()) {
      // The batches of all blocks become one dimension without padding between them.
      std::vector<int64_t> matrix = {operands.blocks, operands.shape.dimensions(0)};
      matrix.insert(matrix.end(), bounds.begin() + 1, bounds.end());
      xla::Shape shape = xla::ShapeUtil::MakeShape(operands.shape.element_type(), matrix);
      shape.set_dynamic_dimension(1, true);
      std::vector<XlaOp> actual;
      for (const int64_t bound : matrix)
        actual.push_back(xla::ConstantR0<int32_t>(builder, static_cast<int32_t>(bound)));
      actual[1] = operands.sizes[0].value;
      value = Compact(xla::Reshape(value, matrix), shape, actual);
    }
    context->SetOutput(0, SetSizes(xla::Reshape(value, bounds), sizes));
  }
};

class BatchToSpaceLowering : public SizedLowering {
 public:
  using SizedLowering::SizedLowering;

  void Compile(XlaOpKernelContext* context) override {
    const absl::StatusOr<BlockOperands> found = OperandsOf(context);
    if (!found.ok() || !found->IsComputed()) {
      OP_REQUIRES(context, !absl::IsUnimplemented(found.status()), found.status());
      lowering().Compute(context->op_kernel_context());
      return;
    }
    const BlockOperands& operands = *found;
    xla::XlaBuilder* const builder = context->builder();
    const auto spatial = static_cast<int64_t>(operands.block.size());
    XlaOp value = RemoveSizes(context->Input(0), operands.shape);
    std::vector<SizeNumber> sizes = operands.sizes;  // of the result
    sizes[0] = Quotient(operands.sizes[0], operands.blocks);
    std::vector<int64_t> matrix = {operands.blocks, sizes[0].high};
    matrix.insert(matrix.end(), operands.shape.dimensions().begin() + 1, operands.shape.dimensions().end());
    if (!sizes[0].known.has_value()) {
      value = xla::SliceInDim(value, 0, operands.blocks * sizes[0].high, 1, 0);
      xla::Shape shape = xla::ShapeUtil::MakeShape(operands.shape.element_type(), matrix);
      shape.set_dynamic_dimension(1, true);
      std::vector<XlaOp> actual;
      for (const int64_t bound : matrix)
        actual.push_back(xla::ConstantR0<int32_t>(builder, static_cast<int32_t>(bound)));
      actual[1] = sizes[0].value;
      value = Expand(value, shape, actual);
    }
    // [block, ..., batch, outer, ..., rest] becomes [batch, outer, block, outer, block, ..., rest].
    std::vector<int64_t> split = operands.block, order = {spatial};
    split.insert(split.end(), matrix.begin() + 1, matrix.end());
    for (int64_t i = 0; i < spatial; ++i) order.insert(order.end(), {spatial + 1 + i, i});
    for (auto d = static_cast<int64_t>(order.size()); d < static_cast<int64_t>(split.size()); ++d) order.push_back(d);
    value = xla::Transpose(xla::Reshape(value, split), order);
    std::vector<int64_t> bounds = {sizes[0].high};
    for (int64_t i = 0; i < spatial; ++i) bounds.push_back(operands.shape.dimensions(i + 1) * operands.block[i]);
    bounds.insert(bounds.end(), operands.shape.dimensions().begin() + spatial + 1, operands.shape.dimensions().end());
    value = xla::Reshape(value, bounds);
    for (int64_t i = 0; i < spatial; ++i) {
      const int64_t d = i + 1, low = *operands.border[2 * i].known;
      const SizeNumber whole = Times(operands.sizes[d], SizeNumber::Known(operands.block[i]));
      sizes[d] = Minus(Minus(whole, operands.border[2 * i]), operands.border[2 * i + 1]);
      sizes[d].high = std::clamp<int64_t>(sizes[d].high, 0, bounds[d] - low);
      value = xla::SliceInDim(value, low, low + sizes[d].high, 1, d);
    }
    context->SetOutput(0, SetSizes(value, sizes));
  }
};

REGISTER_XLA_OP(Name("SpaceToBatchND")
                    .Device(kCompilationDevice)
                    .CompileTimeConstantInput("block_shape")
                    .CompileTimeConstantInput("paddings"),
                SpaceToBatchLowering)
REGISTER_XLA_OP(Name("BatchToSpaceND")
                    .Device(kCompilationDevice)
                    .CompileTimeConstantInput("block_shape")
                    .CompileTimeConstantInput("crops"),
                BatchToSpaceLowering)

}  // namespace
}  // namespace hpu
