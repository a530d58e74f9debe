#include "plugin/tensorflow/fused/marked_fused_op.h"

#include <utility>

#include "plugin/base/status_macros.h"
#include "plugin/compiler/lowerings/marked_call_builder.h"
#include "plugin/tensorflow/fused/decomposition_kernel.h"
#include "plugin/tensorflow/fused/fused_op.h"

namespace hpu {
namespace {

struct FusedMark {
  const char* op;
  const char* condition;
  const char* operation;
  Marker marker;
};

// Filled while the plugin is loaded, by one thread.
std::vector<FusedMark>& FusedMarks() {
  static auto* marks = new std::vector<FusedMark>;
  return *marks;
}

// Lowering by a marked call, or by the decomposition if the node cannot be marked.
class MarkedKernel final : public DecompositionKernel {
 public:
  MarkedKernel(tensorflow::OpKernelConstruction* construction, const FusedMark& mark)
      : DecompositionKernel(construction), mark_(mark) {}

  void Compute(tensorflow::OpKernelContext* context) override {
    tensorflow::XlaOpKernelContext xla_context(context);
    if (CanMark(mark_.operation, &xla_context)) {
      const absl::StatusOr<bool> is_marked = mark_.marker(&xla_context, def());
      OP_REQUIRES_OK(context, is_marked.status());
      if (*is_marked) return;
    }
    DecompositionKernel::Compute(context);
  }

 private:
  const FusedMark& mark_;  // lives as long as the process
};

}  // namespace

MarkedFusedOp::MarkedFusedOp(const char* op, const char* condition, const char* operation, Marker marker) {
  FusedMarks().push_back({op, condition, operation, std::move(marker)});
}

MarkedFusedOp::MarkedFusedOp(const char* op, const char* condition, const char* operation, const char* attributes,
                             xla::XlaOp (*body)(const std::vector<xla::XlaOp>& operands))
    : MarkedFusedOp(op, condition, operation,
                    [=](tensorflow::XlaOpKernelContext* context, const tensorflow::NodeDef&) -> absl::StatusOr<bool> {
                      std::vector<xla::XlaOp> operands;
                      for (int i = 0; i < context->num_inputs(); ++i) operands.push_back(context->Input(i));
                      HPU_ASSIGN_OR_RETURN(const xla::XlaOp result, MarkedCall(operation, attributes, operands, body));
                      context->SetOutput(0, result);
                      return true;
                    }) {}

tensorflow::OpKernel* MakeMarkedKernel(tensorflow::OpKernelConstruction* construction) {
  for (const FusedMark& mark : FusedMarks()) {
    if (construction->def().op() != mark.op || !IsSatisfied(mark.condition, construction->def())) continue;
    return new MarkedKernel(construction, mark);
  }
  return nullptr;
}

}  // namespace hpu
