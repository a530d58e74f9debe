#include "plugin/tensorflow/fused/marked_fused_op.h"

#include "plugin/compiler/lowerings/marked_call_builder.h"
#include "plugin/tensorflow/fused/decomposition_kernel.h"
#include "plugin/tensorflow/fused/fused_op.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"

namespace hpu {
namespace {

struct FusedMark {
  const char* op;
  const char* condition;
  const char* operation;
  const char* attributes;
  xla::XlaOp (*body)(const std::vector<xla::XlaOp>& operands);
};

// Filled while the plugin is loaded, by one thread.
std::vector<FusedMark>& FusedMarks() {
  static auto* marks = new std::vector<FusedMark>;
  return *marks;
}

// Lowering by a marked call, or by the decomposition if the call cannot be marked (CanMark).
class MarkedKernel final : public DecompositionKernel {
 public:
  MarkedKernel(tensorflow::OpKernelConstruction* construction, const FusedMark& mark)
      : DecompositionKernel(construction), mark_(mark) {}

  void Compute(tensorflow::OpKernelContext* context) override {
    tensorflow::XlaOpKernelContext xla_context(context);
    if (!CanMark(&xla_context)) return DecompositionKernel::Compute(context);
    std::vector<xla::XlaOp> operands;
    for (int i = 0; i < context->num_inputs(); ++i) operands.push_back(xla_context.Input(i));
    const absl::StatusOr<xla::XlaOp> result = MarkedCall(mark_.operation, mark_.attributes, operands, mark_.body);
    OP_REQUIRES_OK(context, result.status());
    xla_context.SetOutput(0, *result);
  }

 private:
  const FusedMark mark_;
};

}  // namespace

MarkedFusedOp::MarkedFusedOp(const char* op, const char* condition, const char* operation, const char* attributes,
                             xla::XlaOp (*body)(const std::vector<xla::XlaOp>& operands)) {
  FusedMarks().push_back({op, condition, operation, attributes, body});
}

tensorflow::OpKernel* MakeMarkedKernel(tensorflow::OpKernelConstruction* construction) {
  for (const FusedMark& mark : FusedMarks()) {
    if (construction->def().op() != mark.op || !IsSatisfied(mark.condition, construction->def())) continue;
    return new MarkedKernel(construction, mark);
  }
  return nullptr;
}

}  // namespace hpu
