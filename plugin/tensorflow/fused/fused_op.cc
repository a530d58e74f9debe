#include "plugin/tensorflow/fused/fused_op.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "plugin/base/version/contact.h"
#include "plugin/tensorflow/fused/decomposition_kernel.h"
#include "plugin/tensorflow/fused/marked_fused_op.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/framework/attr_value_util.h"
#include "tensorflow/core/framework/kernel_def_builder.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {
namespace {

using TextOf = std::string (*)(const tensorflow::NodeDef& node);

struct PlainText {
  const char* op;
  const char* condition;
  std::string text;
  TextOf text_of = nullptr;  // null: `text` is the decomposition
};

// Filled while the plugin is loaded, by one thread.
std::vector<PlainText>& PlainTexts() {
  static auto* texts = new std::vector<PlainText>;
  return *texts;
}

tensorflow::OpKernel* MakeKernel(tensorflow::OpKernelConstruction* construction) {
  return new DecompositionKernel(construction);
}

tensorflow::OpKernel* MakeLowering(tensorflow::OpKernelConstruction* construction) {
  tensorflow::OpKernel* marked = MakeMarkedKernel(construction);
  return marked == nullptr ? MakeKernel(construction) : marked;
}

}  // namespace

bool IsSatisfied(const std::string& condition, const tensorflow::NodeDef& node) {
  if (condition.empty()) return true;
  const std::pair<std::string, std::string> parts = absl::StrSplit(condition, '=');
  const auto found = node.attr().find(parts.first);
  return found != node.attr().end() && tensorflow::SummarizeAttrValue(found->second) == parts.second;
}

FusedOp::FusedOp(const char* op, const char* condition, std::string decomposition) {
  PlainTexts().push_back({op, condition, std::move(decomposition)});
}

FusedOp::FusedOp(const char* op, TextOf decomposition) { PlainTexts().push_back({op, "", "", decomposition}); }

bool FusedOp::Contains(absl::string_view op) {
  return absl::c_any_of(PlainTexts(), [op](const PlainText& text) { return op == text.op; });
}

absl::StatusOr<std::vector<passes::OpStatement>> FusedOp::DecompositionOf(const tensorflow::NodeDef& node) {
  for (const PlainText& candidate : PlainTexts()) {
    if (node.op() != candidate.op || !IsSatisfied(candidate.condition, node)) continue;
    return passes::ParseOpText(candidate.text_of == nullptr ? candidate.text : candidate.text_of(node));
  }
  return absl::InternalError(absl::StrCat(node.op(), " (node ", node.name(),
                                          "): no decomposition matches the node's attributes; " HPU_REPORT_BUG));
}

FusedKernels::FusedKernels(const char* op, std::initializer_list<const char*> constants, bool only_shapes) {
  // TensorFlow's registry owns the definition, so the registrar object may be a temporary.
  tensorflow::kernel_factory::OpKernelRegistrar(tensorflow::KernelDefBuilder(op).Device(tensorflow::DEVICE_CPU).Build(),
                                                "HpuDecompositionKernel", MakeKernel);
  tensorflow::XlaOpRegistrationBuilder lowering = tensorflow::XlaOpRegistrationBuilder::Name(op);
  for (const char* constant : constants) lowering.CompileTimeConstantInput(constant);
  if (only_shapes) lowering.IsMetadataOp();
  tensorflow::XlaOpRegistrar registrar(lowering.Build(MakeLowering));
}

tensorflow::Status ShapeOfSecondInput(tensorflow::shape_inference::InferenceContext* c) {
  c->set_output(0, c->input(1));
  return tensorflow::OkStatus();
}

}  // namespace hpu
