// Built-in elementwise kernels, with the guids and operand orders of the card's kernel library.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/compiler/lowerings/elementwise_lowering.h"
#include "plugin/include/habanalabs/hpu_hlo_kernel.h"
#include "tensorflow/compiler/tf2xla/lib/broadcast.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/math.h"

namespace hpu {
namespace {

using habana::HloKernelCall;
using habana::RegisterHloKernel;
using xla::XlaOp;
using Operands = std::vector<XlaOp>;
using Formula = XlaOp (*)(const Operands&);

// Broadcasts each operand to the output's shape, as the card does, and applies `formula`.
absl::StatusOr<Operands> BuildElementwise(const HloKernelCall& call, size_t operand_count, Formula formula) {
  if (call.inputs.size() != operand_count || call.output_infos.size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat("number of inputs: expected ", operand_count, ", got ",
                                                   call.inputs.size(), "; number of outputs: expected 1, got ",
                                                   call.output_infos.size()));
  }
  if (!call.params.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected no parameters, got ", call.params.size(), " bytes; leave user_params unset"));
  }
  Operands operands;
  for (const XlaOp& input : call.inputs) {
    HPU_ASSIGN_OR_RETURN(const XlaOp operand, tensorflow::BroadcastTo(input, call.output_infos[0].shape.dim_sizes()));
    operands.push_back(operand);
  }
  return Operands{formula(operands)};
}

bool Register(const std::string& stem, size_t operand_count, Formula formula, const std::vector<const char*>& types) {
  for (const char* type : types) {
    RegisterHloKernel(absl::StrCat(stem, "_", type), [operand_count, formula](const HloKernelCall& call) {
      return BuildElementwise(call, operand_count, formula);
    });
  }
  return true;
}

// The gradient where the condition holds, else 0.
XlaOp Where(XlaOp condition, XlaOp gradient) { return xla::Select(condition, gradient, xla::ZerosLike(gradient)); }

XlaOp Six(XlaOp like) { return xla::FullLike(like, 6); }

bool RegisterAll() {
  const std::vector<const char*> floats = {"f32", "bf16"}, numbers = {"f32", "bf16", "i32"};
  Register("add_fwd", 2, [](const Operands& x) { return xla::Add(x[0], x[1]); }, numbers);
  Register("sub_fwd", 2, [](const Operands& x) { return xla::Sub(x[0], x[1]); }, numbers);
  Register("mult_fwd", 2, [](const Operands& x) { return xla::Mul(x[0], x[1]); }, numbers);
  Register("max_fwd", 2, [](const Operands& x) { return xla::Max(x[0], x[1]); }, numbers);
  Register("min_fwd", 2, [](const Operands& x) { return xla::Min(x[0], x[1]); }, numbers);
  Register("div_fwd", 2, [](const Operands& x) { return xla::Div(x[0], x[1]); }, floats);
  Register("pow_fwd", 2, [](const Operands& x) { return xla::Pow(x[0], x[1]); }, floats);
  Register("abs_fwd", 1, [](const Operands& x) { return xla::Abs(x[0]); }, numbers);
  Register("neg_fwd", 1, [](const Operands& x) { return xla::Neg(x[0]); }, numbers);
  Register("ceil_fwd", 1, [](const Operands& x) { return xla::Ceil(x[0]); }, floats);
  Register("floor_fwd", 1, [](const Operands& x) { return xla::Floor(x[0]); }, floats);
  Register("exp_fwd", 1, [](const Operands& x) { return xla::Exp(x[0]); }, floats);
  Register("log_fwd", 1, [](const Operands& x) { return xla::Log(x[0]); }, floats);
  Register("sqrt_fwd", 1, [](const Operands& x) { return xla::Sqrt(x[0]); }, floats);
  Register("rsqrt_fwd", 1, [](const Operands& x) { return xla::Rsqrt(x[0]); }, floats);
  Register("reciprocal_fwd", 1, [](const Operands& x) { return xla::Reciprocal(x[0]); }, floats);
  Register("sin_fwd", 1, [](const Operands& x) { return xla::Sin(x[0]); }, floats);
  Register("cos_fwd", 1, [](const Operands& x) { return xla::Cos(x[0]); }, floats);
  Register("erf_fwd", 1, [](const Operands& x) { return ErrorFunction(x[0]); }, floats);
  Register("sigmoid_fwd", 1, [](const Operands& x) { return xla::Logistic(x[0]); }, floats);
  Register("tanh_fwd", 1, [](const Operands& x) { return xla::Tanh(x[0]); }, floats);
  Register("relu_fwd", 1, [](const Operands& x) { return xla::Max(x[0], xla::ZerosLike(x[0])); }, floats);
  Register("relu6_fwd", 1, [](const Operands& x) { return xla::Clamp(xla::ZerosLike(x[0]), x[0], Six(x[0])); }, floats);
  // Operands of gradient kernels: the gradient, then the forward kernel's output (sigmoid, tanh) or input (relu*).
  Register("relu_bwd", 2, [](const Operands& x) { return Where(xla::Gt(x[1], xla::ZerosLike(x[1])), x[0]); }, floats);
  Register(
      "relu6_bwd", 2,
      [](const Operands& x) {
        return Where(xla::And(xla::Gt(x[1], xla::ZerosLike(x[1])), xla::Lt(x[1], Six(x[1]))), x[0]);
      },
      floats);
  Register(
      "sigmoid_bwd", 2,
      [](const Operands& x) { return xla::Mul(x[0], xla::Mul(x[1], xla::Sub(xla::FullLike(x[1], 1), x[1]))); }, floats);
  Register(
      "tanh_bwd", 2,
      [](const Operands& x) { return xla::Mul(x[0], xla::Sub(xla::FullLike(x[1], 1), xla::Square(x[1]))); }, floats);
  return true;
}

[[maybe_unused]] const bool registered = RegisterAll();

}  // namespace
}  // namespace hpu
