#include "plugin/passes/clustering/value_check_pass.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/checks/value_rule.h"
#include "plugin/passes/analysis/static_shapes.h"
#include "plugin/passes/analysis/value_tests.h"
#include "plugin/passes/clustering/check_order.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/graph/node_maker.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {
namespace {

using tensorflow::Node;
using tensorflow::NodeBuilder;
using Test = ValueRule::Test;

class ValueCheckMaker {
 public:
  explicit ValueCheckMaker(PassContext* context)
      : context_(context),
        lowered_(HasLoweredControlFlow(**context->graph)),
        followers_(**context->graph),
        shapes_(context->graph->get(), context->library),
        tests_(context->graph->get(), &shapes_) {}

  absl::Status Add(Node* node, const ValueRule& rule);

  // For a HabanaInnerValues.
  absl::Status AddInner(Node* node);

 private:
  absl::Status AddCheck(Node* node, Node* passes, int code, const std::string& error, bool before);

  PassContext* const context_;
  const bool lowered_;
  const UpdateFollowers followers_;  // of the graph without checks
  LazyShapes shapes_;
  ValueTests tests_;
};

absl::Status ValueCheckMaker::Add(Node* node, const ValueRule& rule) {
  const std::optional<bool> has_elements = tests_.OtherHasElements(*node, rule);
  if (has_elements == false) return absl::OkStatus();
  if (const std::optional<bool> known = tests_.Known(node, rule); known.has_value()) {
    if (!*known) node->AddAttr(kUncheckedAttr, true);
    return absl::OkStatus();
  }
  const bool of_result = rule.test == Test::kFactored;
  // The op waits for the check only if the checked inputs are in host memory, so that waiting requires no copy. In
  // graphs with lowered loops or branches, `anchor` keeps the test in the op's frame and branch.
  bool before = !of_result && !followers_.Contains(*node) && IsOnHost(InputOf(*node, rule.input));
  if (rule.test == Test::kOrdered || rule.test == Test::kBand) {
    before = before && IsOnHost(InputOf(*node, rule.input + 1));
  }
  if (!has_elements.has_value()) before = before && IsOnHost(InputOf(*node, rule.other));
  // The shape of a tensor on the device is computed there.
  if (rule.test == Test::kBand) before = before && tests_.KnowsSizeOf(*node);
  const std::string host = HostOf(node->assigned_device_name());
  const std::string prefix = absl::StrCat(node->name(), "/habana_check");
  Node* const anchor = !lowered_ ? nullptr : of_result ? node : InputOf(*node, rule.input).node;
  const NodeMaker maker(context_->graph->get(), prefix, before ? host : node->assigned_device_name(), anchor);
  HPU_ASSIGN_OR_RETURN(Node * passes, tests_.Make(*node, rule, maker));
  return AddCheck(node, passes, static_cast<int>(rule.code), rule.error, before);
}

absl::Status ValueCheckMaker::AddInner(Node* node) {
  int code = 0;
  std::string error;
  HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(node->attrs(), "code", &code));
  HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(node->attrs(), "error", &error));
  const NodeMaker maker(context_->graph->get(), absl::StrCat(node->name(), "/habana_check"),
                        node->assigned_device_name(), lowered_ ? InputOf(*node, 0).node : nullptr);
  HPU_ASSIGN_OR_RETURN(Node * passes, OnlyOutput(InputOf(*node, 0), maker));
  return AddCheck(node, passes, code, error, /*before=*/false);
}

absl::Status ValueCheckMaker::AddCheck(Node* node, Node* passes, int code, const std::string& error, bool before) {
  const NodeMaker maker(context_->graph->get(), absl::StrCat(node->name(), "/habana_check"),
                        HostOf(node->assigned_device_name()));
  NodeBuilder builder = maker.New("values", kCheckValuesOp);
  builder.Input(passes).Attr("code", code).Attr("error", error);
  HPU_ASSIGN_OR_RETURN(Node * check, maker.Add(builder.Attr("node", node->name())));
  OrderCheck(context_, node, check, "values are", before);
  return absl::OkStatus();
}

}  // namespace

absl::Status AddValueChecks(PassContext* context) {
  std::vector<Node*> nodes;
  for (Node* node : (*context->graph)->op_nodes()) {
    const bool checked = node->type_string() == kInnerValuesOp ||
                         (checks::FindValueRule(node->type_string(), node->attrs()) != nullptr &&
                          node->attrs().Find(kInRangeAttr) == nullptr);
    if (checked && IsOnHpu(*node)) nodes.push_back(node);
  }
  if (nodes.empty()) return absl::OkStatus();
  ValueCheckMaker maker(context);
  for (Node* node : nodes) {
    HPU_RETURN_IF_ERROR(node->type_string() == kInnerValuesOp
                            ? maker.AddInner(node)
                            : maker.Add(node, *checks::FindValueRule(node->type_string(), node->attrs())));
  }
  return absl::OkStatus();
}

}  // namespace hpu::passes
