// Lowerings of ops that a Gaudi computes by one kernel: marked calls (plugin/program/marked_call.h). Backends that do
// not want the mark get tf2xla's lowerings, because passes of the emulator recognise the instructions of these
// lowerings.
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/compat/unary_ops.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/lowerings/elementwise_lowering.h"
#include "plugin/compiler/lowerings/marked_call_builder.h"
#include "plugin/compiler/lowerings/rows.h"
#include "plugin/compiler/make_lowering.h"
#include "plugin/program/marked_call.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/math.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::XlaOpKernelContext;
using xla::XlaOp;
using Values = std::vector<XlaOp>;

class CompositeLowering : public tensorflow::XlaOpKernel {
 public:
  // Takes tf2xla's lowering from XLA:CPU, because this lowering replaces tf2xla's on kCompilationDevice. Borrows
  // `operation`.
  CompositeLowering(OpKernelConstruction* construction, const char* operation)
      : XlaOpKernel(construction), operation_(operation) {
    absl::StatusOr<std::unique_ptr<tensorflow::OpKernel>> plain =
        MakeLowering(construction, tensorflow::DEVICE_CPU_XLA_JIT);
    OP_REQUIRES_OK(construction, plain.status());
    plain_ = *std::move(plain);
  }

  void Compile(XlaOpKernelContext* context) final {
    if (CanMark(operation_, context)) {
      Mark(context);
    } else {
      CompilePlain(context);
    }
  }

 protected:
  virtual void CompilePlain(XlaOpKernelContext* context) { plain_->Compute(context->op_kernel_context()); }

  // Sets the outputs to results of a marked call. All inputs have elements.
  virtual void Mark(XlaOpKernelContext* context) = 0;
  const char* operation() const { return operation_; }

 private:
  const char* const operation_;
  std::unique_ptr<tensorflow::OpKernel> plain_;
};

// An op that applies a function to each element.
struct Function {
  const char* op;
  const char* name;  // in marked_call.h
  XlaOp (*body)(XlaOp x);
};
constexpr Function kFunctions[] = {{"Erf", "erf", ErrorFunction},
                                   {"Erfc", "erfc", compat::unary::Erfc},
                                   {"Erfinv", "erf_inv", compat::unary::ErfInv},
                                   {"Lgamma", "lgamma", compat::unary::Lgamma},
                                   {"Sinh", "sinh", compat::unary::Sinh}};

class FunctionLowering final : public CompositeLowering {
 public:
  explicit FunctionLowering(OpKernelConstruction* construction) : CompositeLowering(construction, kUnary) {}

 private:
  void CompilePlain(XlaOpKernelContext* context) override {
    if (type_string() != "Erf") return CompositeLowering::CompilePlain(context);
    context->SetOutput(0, ErrorFunction(context->Input(0)));
  }

  void Mark(XlaOpKernelContext* context) override {
    for (const Function& function : kFunctions) {
      if (type_string() != function.op) continue;
      const absl::StatusOr<XlaOp> y = MarkedCall(operation(), function.name, {context->Input(0)},
                                                 [&](const Values& operands) { return function.body(operands[0]); });
      OP_REQUIRES_OK(context, y.status());
      context->SetOutput(0, *y);
    }
  }
};

XlaOp RowSums(XlaOp x) { return AlongRows(SumsOfRows(x), x); }

XlaOp LogSoftmax(XlaOp x) {
  const xla::Shape shape = x.builder()->GetShape(x).value();
  const xla::PrimitiveType type = shape.element_type();
  const XlaOp largest = xla::Reduce(x, xla::MinValue(x.builder(), type),
                                    xla::CreateScalarMaxComputation(type, x.builder()), {shape.dimensions_size() - 1});
  const XlaOp max = AlongRows(largest, x);
  return (x - max) - xla::Log(RowSums(xla::Exp(x - max)));
}

class SoftmaxLowering final : public CompositeLowering {
 public:
  explicit SoftmaxLowering(OpKernelConstruction* construction)
      : CompositeLowering(construction, construction->def().op() == "LogSoftmax" ? kLogSoftmax : kSoftmax) {}

 private:
  void Mark(XlaOpKernelContext* context) override {
    const bool is_log = type_string() == "LogSoftmax";
    const absl::StatusOr<XlaOp> y = MarkedCall(operation(), "", {context->Input(0)}, [&](const Values& operands) {
      const XlaOp log = LogSoftmax(operands[0]);
      return is_log ? log : xla::Exp(log);
    });
    OP_REQUIRES_OK(context, y.status());
    context->SetOutput(0, *y);
  }
};

// Loss and gradient. `logits`: [rows, classes]; `labels`: s32 [rows].
XlaOp SparseCrossEntropy(XlaOp logits, XlaOp labels) {
  const xla::Shape shape = logits.builder()->GetShape(logits).value();
  const XlaOp log = LogSoftmax(logits);
  const XlaOp classes =
      xla::Iota(logits.builder(), xla::ShapeUtil::MakeShape(xla::S32, shape.dimensions()), /*iota_dimension=*/1);
  const XlaOp is_label = xla::Eq(classes, labels, {0});
  const XlaOp zero = xla::ZerosLike(log);
  const XlaOp one = xla::FullLike(log, 1);
  // False for labels out of range.
  const XlaOp has_label = xla::Gt(RowSums(xla::Select(is_label, one, zero)), zero);
  const XlaOp nan = xla::FullLike(log, std::numeric_limits<float>::quiet_NaN());
  const XlaOp losses = xla::Select(has_label, RowSums(xla::Select(is_label, xla::Neg(log), zero)), nan);
  const XlaOp loss = xla::Reshape(xla::SliceInDim(losses, 0, 1, 1, 1), {shape.dimensions(0)});
  const XlaOp gradient = xla::Select(has_label, xla::Exp(log) - xla::Select(is_label, one, zero), nan);
  return xla::Tuple(logits.builder(), {loss, gradient});
}

class SparseCrossEntropyLowering final : public CompositeLowering {
 public:
  explicit SparseCrossEntropyLowering(OpKernelConstruction* construction)
      : CompositeLowering(construction, kSparseCrossEntropy) {}

 private:
  void Mark(XlaOpKernelContext* context) override {
    const absl::StatusOr<xla::Shape> logits = context->InputXlaShape(0), labels = context->InputXlaShape(1);
    OP_REQUIRES_OK(context, logits.status());
    OP_REQUIRES_OK(context, labels.status());
    OP_REQUIRES(
        context,
        logits->dimensions_size() == 2 && labels->dimensions_size() == 1 &&
            logits->dimensions(0) == labels->dimensions(0),
        absl::InvalidArgumentError(absl::StrCat(type_string(), ": expected logits [rows, classes] and labels ",
                                                "[rows], got ", logits->ToString(), " and ", labels->ToString())));
    // Replaces labels out of range by -1, because converting a 64-bit label to s32 could make it a valid class.
    const XlaOp label = context->Input(1);
    const XlaOp is_class =
        xla::And(xla::Ge(label, xla::ZerosLike(label)), xla::Lt(label, xla::FullLike(label, logits->dimensions(1))));
    const XlaOp word = xla::ConvertElementType(label, xla::S32);
    const XlaOp known = xla::Select(is_class, word, xla::FullLike(word, -1));
    const absl::StatusOr<XlaOp> results =
        MarkedCall(operation(), "", {context->Input(0), known},
                   [](const Values& operands) { return SparseCrossEntropy(operands[0], operands[1]); });
    OP_REQUIRES_OK(context, results.status());
    context->SetOutput(0, xla::GetTupleElement(*results, 0));
    context->SetOutput(1, xla::GetTupleElement(*results, 1));
  }
};

#define HPU_REGISTER(op, lowering) REGISTER_XLA_OP(Name(op).Device(kCompilationDevice), lowering)
HPU_REGISTER("Erf", FunctionLowering);
HPU_REGISTER("Erfc", FunctionLowering);
HPU_REGISTER("Erfinv", FunctionLowering);
HPU_REGISTER("Lgamma", FunctionLowering);
HPU_REGISTER("Sinh", FunctionLowering);
HPU_REGISTER("Softmax", SoftmaxLowering);
HPU_REGISTER("LogSoftmax", SoftmaxLowering);
HPU_REGISTER("SparseSoftmaxCrossEntropyWithLogits", SparseCrossEntropyLowering);
#undef HPU_REGISTER

}  // namespace
}  // namespace hpu
