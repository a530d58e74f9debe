// Lowerings of StatelessRandomUniformV2 and StatelessRandomNormalV2 for draws by the card
// (plugin/op_facts/card_draw.h). The plain computation draws the numbers of TensorFlow's CPU kernels, like
// plugin/passes/random/uniform_bits.h.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/lowerings/marked_call_builder.h"
#include "plugin/program/marked_call.h"
#include "tensorflow/compiler/tf2xla/type_util.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/math.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using xla::XlaOp;
using Values = std::vector<XlaOp>;

// Philox words for a key and a counter.
XlaOp Words(const Values& state, const std::vector<int64_t>& dimensions) {
  const XlaOp key_and_counter = xla::ConcatInDim(state[0].builder(), state, 0);
  return xla::GetTupleElement(xla::RngBitGenerator(xla::RandomAlgorithm::RNG_PHILOX, key_and_counter,
                                                   xla::ShapeUtil::MakeShape(xla::U32, dimensions)),
                              1);
}

// Words as numbers in [0, 1): the lowest bits are the mantissa of a number in [1, 2).
XlaOp Fractions(XlaOp words, xla::PrimitiveType type) {
  const bool is_float = type == xla::F32;
  const uint32_t mantissa = is_float ? 0x7fffff : type == xla::BF16 ? 0x7f : 0x3ff;
  const uint32_t one = is_float ? 0x3f800000 : type == xla::BF16 ? 0x3f80 : 0x3c00;
  XlaOp bits = xla::Or(xla::And(words, xla::ScalarLike(words, mantissa)), xla::ScalarLike(words, one));
  if (!is_float) bits = xla::ConvertElementType(bits, xla::U16);
  const XlaOp numbers = xla::BitcastConvertType(bits, type);
  return numbers - xla::ScalarLike(numbers, 1);
}

// Box-Muller transform of adjacent words.
XlaOp Normal(const Values& state, const xla::Shape& shape) {
  constexpr double kSmallest = 1.0e-7;
  const int64_t count = xla::ShapeUtil::ElementsIn(shape);
  const int64_t pairs = (count + 1) / 2;
  const XlaOp fractions = Fractions(Words(state, {pairs, 2}), xla::F32);
  const XlaOp first = xla::SliceInDim(fractions, 0, 1, 1, 1);
  const XlaOp angle = xla::SliceInDim(fractions, 1, 2, 1, 1) * xla::ScalarLike(fractions, 2 * M_PI);
  const XlaOp bounded = xla::Max(first, xla::ScalarLike(first, kSmallest));
  const XlaOp radius = xla::Sqrt(xla::Log(bounded) * xla::ScalarLike(first, -2));
  const XlaOp numbers = xla::ConcatInDim(first.builder(), {xla::Sin(angle) * radius, xla::Cos(angle) * radius}, 1);
  const XlaOp flat = xla::SliceInDim(xla::Reshape(numbers, {2 * pairs}), 0, count, 1, 0);
  return xla::ConvertElementType(xla::Reshape(flat, shape.dimensions()), shape.element_type());
}

// Inputs: shape, key, counter, algorithm.
class CardDrawLowering final : public tensorflow::XlaOpKernel {
 public:
  using XlaOpKernel::XlaOpKernel;

  void Compile(tensorflow::XlaOpKernelContext* context) override {
    std::vector<int64_t> dimensions;
    OP_REQUIRES_OK(context, context->ConstantInputAsIntVector(0, &dimensions));
    xla::PrimitiveType type;
    OP_REQUIRES_OK(context, tensorflow::DataTypeToPrimitiveType(output_type(0), &type));
    const xla::Shape shape = xla::ShapeUtil::MakeShape(type, dimensions);
    if (xla::ShapeUtil::IsZeroElementArray(shape)) {
      context->SetOutput(0, xla::Zeros(context->builder(), shape));
      return;
    }
    const bool is_normal = type_string() == "StatelessRandomNormalV2";
    const absl::StatusOr<XlaOp> numbers = MarkedCall(
        kRandom, is_normal ? "normal" : "uniform", {context->Input(1), context->Input(2)}, [&](const Values& state) {
          return is_normal ? Normal(state, shape) : Fractions(Words(state, dimensions), type);
        });
    OP_REQUIRES_OK(context, numbers.status());
    context->SetOutput(0, *numbers);
  }
};

// Registers all types of the ops, because the lowering of nodes without the mark has the same types
// (checked_lowering.cc).
#define HPU_REGISTER(op)                                                                                          \
  REGISTER_XLA_OP(Name(op)                                                                                        \
                      .Device(kCompilationDevice)                                                                 \
                      .CompileTimeConstantInput("shape")                                                          \
                      .CompileTimeConstantInput("alg")                                                            \
                      .TypeConstraint("dtype", {tensorflow::DT_DOUBLE, tensorflow::DT_FLOAT, tensorflow::DT_HALF, \
                                                tensorflow::DT_BFLOAT16}),                                        \
                  CardDrawLowering)
HPU_REGISTER("StatelessRandomUniformV2");
HPU_REGISTER("StatelessRandomNormalV2");
#undef HPU_REGISTER

}  // namespace
}  // namespace hpu
