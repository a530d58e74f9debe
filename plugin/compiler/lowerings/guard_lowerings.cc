// Lowerings of HabanaIndicesInRange and HabanaRevertUpdate, which keep a variable's value if a check will fail.
#include <optional>

#include "plugin/checks/index_predicate.h"
#include "plugin/compat/lowering_values.h"
#include "plugin/compiler/compilation_device.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu {
namespace {

using tensorflow::XlaOpKernelContext;
using xla::XlaOp;

class IndicesInRangeLowering : public tensorflow::XlaOpKernel {
 public:
  explicit IndicesInRangeLowering(tensorflow::OpKernelConstruction* construction) : XlaOpKernel(construction) {
    const absl::StatusOr<checks::IndexRule> rule = checks::RuleIn(tensorflow::AttrSlice(def()));
    OP_REQUIRES_OK(construction, rule.status());
    rule_ = *rule;
  }

  void Compile(XlaOpKernelContext* context) override {
    context->SetOutput(0, checks::IndicesInRange(rule_, context->Input(0), context->Input(1)));
  }

 private:
  checks::IndexRule rule_;
};

class NoLowering : public tensorflow::XlaOpKernel {
 public:
  using XlaOpKernel::XlaOpKernel;

  void Compile(XlaOpKernelContext*) override {}
};

class RevertUpdateLowering : public tensorflow::XlaOpKernel {
 public:
  using XlaOpKernel::XlaOpKernel;

  void Compile(XlaOpKernelContext* context) override {
    const absl::StatusOr<std::optional<VariableValues>> variable = ValuesOfVariable(context, 0);
    OP_REQUIRES_OK(context, variable.status());
    if (!variable->has_value()) return;
    const XlaOp updated = (*variable)->value;
    const XlaOp old = context->num_inputs() > 2 ? context->Input(2) : (*variable)->initial;
    if (!old.valid() || old.IsIdenticalTo(updated)) return;
    const absl::StatusOr<xla::Shape> old_shape = context->builder()->GetShape(old);
    const absl::StatusOr<xla::Shape> shape = context->builder()->GetShape(updated);
    OP_REQUIRES_OK(context, old_shape.status());
    OP_REQUIRES_OK(context, shape.status());
    if (!shape->IsArray() || shape->is_dynamic() || !xla::Shape::Equal().IgnoreLayout()(*shape, *old_shape)) return;
    const XlaOp passes = xla::Broadcast(context->Input(1), shape->dimensions());
    OP_REQUIRES_OK(context, context->AssignVariable(0, (*variable)->type, xla::Select(passes, updated, old)));
  }
};

REGISTER_XLA_OP(Name("HabanaIndicesInRange").Device(kCompilationDevice), IndicesInRangeLowering)
REGISTER_XLA_OP(Name("HabanaAssert").Device(kCompilationDevice), NoLowering)
REGISTER_XLA_OP(Name("HabanaInnerIndices").Device(kCompilationDevice), NoLowering)
REGISTER_XLA_OP(Name("HabanaInnerValues").Device(kCompilationDevice), NoLowering)
REGISTER_XLA_OP(Name("HabanaRevertUpdate").Device(kCompilationDevice), RevertUpdateLowering)

}  // namespace
}  // namespace hpu
