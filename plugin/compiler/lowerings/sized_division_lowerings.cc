// Lowerings of FloorDiv and FloorMod for quotients of sizes. XLA infers no bounds of tf2xla's selections by sign.
#include <cstdint>
#include <vector>

#include "plugin/compat/lowering_values.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/dynamic_shapes/size_numbers.h"
#include "plugin/compiler/lowerings/sized_lowering.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape_util.h"
#include "xla/util.h"

namespace hpu {
namespace {

using tensorflow::XlaOpKernelContext;
using xla::XlaOp;

constexpr int64_t kMaxDividedSizes = 64;  // elements of an array of sizes

class SizedDivisionLowering : public SizedLowering {
 public:
  using SizedLowering::SizedLowering;

  void Compile(XlaOpKernelContext* context) override {
    std::vector<int64_t> divisors;
    const std::vector<int64_t> multiples = FindMultiples(context, &divisors);
    if (multiples.empty()) {
      lowering().Compute(context->op_kernel_context());
      return;
    }
    const XlaOp dividend = context->Input(0), divisor = context->Input(1);
    const XlaOp multiple = Constants(context, multiples);
    const XlaOp quotient = xla::Div(dividend + multiple * divisor, divisor) - multiple;
    context->SetOutput(0, type_string() == "FloorDiv" ? quotient
                                                      : xla::Min(xla::Sub(dividend, xla::Mul(quotient, divisor)),
                                                                 xla::Sub(divisor, xla::ScalarLike(divisor, 1))));
  }

 private:
  // For each dividend, a multiple of the divisor that makes it not negative. Empty unless the dividends are sizes, and
  // the divisors known positive numbers.
  static std::vector<int64_t> FindMultiples(XlaOpKernelContext* context, std::vector<int64_t>* divisors) {
    const tensorflow::DataType type = context->input_type(0);
    if (type != tensorflow::DT_INT32 && type != tensorflow::DT_INT64) return {};
    const absl::StatusOr<xla::Shape> shape = context->InputXlaShape(0), divisor_shape = context->InputXlaShape(1);
    // Sizes are scalars and vectors.
    if (!shape.ok() || !divisor_shape.ok() || shape->is_dynamic() || shape->dimensions_size() > 1 ||
        xla::ShapeUtil::ElementsIn(*shape) > kMaxDividedSizes) {
      return {};
    }
    if ((divisor_shape->dimensions_size() > 0 && divisor_shape->dimensions() != shape->dimensions()) ||
        !IsKnownUpToBound(context, 0) || !context->ConstantInputReshapedToIntVector(1, divisors).ok()) {
      return {};
    }
    const absl::StatusOr<std::vector<SizeNumber>> sizes = SizeNumbersOf(context, 0);
    if (!sizes.ok()) return {};
    std::vector<int64_t> multiples;
    for (size_t i = 0; i < sizes->size(); ++i) {
      const int64_t low = (*sizes)[i].low, divisor = (*divisors)[divisors->size() == 1 ? 0 : i];
      if (divisor <= 0 || divisor > kMaxNumber || low < -kMaxNumber) return {};
      multiples.push_back(low < 0 ? xla::CeilOfRatio(-low, divisor) : 0);
    }
    return multiples;
  }

  static XlaOp Constants(XlaOpKernelContext* context, const std::vector<int64_t>& numbers) {
    const absl::StatusOr<xla::Shape> shape = context->InputXlaShape(0);
    const XlaOp vector = xla::ConstantR1<int64_t>(context->builder(), numbers);
    return xla::Reshape(xla::ConvertElementType(vector, shape->element_type()), shape->dimensions());
  }

  static constexpr int64_t kMaxNumber = int64_t{1} << 28;  // sums fit int32
};

REGISTER_XLA_OP(Name("FloorDiv").Device(kCompilationDevice), SizedDivisionLowering)
REGISTER_XLA_OP(Name("FloorMod").Device(kCompilationDevice), SizedDivisionLowering)

}  // namespace
}  // namespace hpu
