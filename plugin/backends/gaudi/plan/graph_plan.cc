#include "plugin/backends/gaudi/plan/graph_plan.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/gaudi/guids/guid_table.h"

namespace hpu::gaudi {
namespace {

std::string DescribeTensor(const GraphPlan& plan, TensorId id) {
  if (id == kNoTensor) return "none";
  const PlanTensor& tensor = plan.tensors[id];
  return absl::StrCat(TensorName(plan, id), " ", std::string(TypeSuffix(tensor.type)), "{",
                      absl::StrJoin(tensor.sizes, ","), "}");
}

std::string DescribeTensors(const GraphPlan& plan, const std::vector<TensorId>& tensors) {
  return absl::StrJoin(tensors, ", ",
                       [&](std::string* out, TensorId id) { absl::StrAppend(out, DescribeTensor(plan, id)); });
}

}  // namespace

uint64_t ElementCount(const Sizes& sizes) {
  uint64_t count = 1;
  for (const uint64_t size : sizes) count *= size;
  return count;
}

uint64_t BytesOf(synapse::synDataType type) {
  switch (type) {
    case synapse::syn_type_int8:
    case synapse::syn_type_uint8:
      return 1;
    case synapse::syn_type_bf16:
    case synapse::syn_type_fp16:
    case synapse::syn_type_int16:
    case synapse::syn_type_uint16:
      return 2;
    case synapse::syn_type_int64:
    case synapse::syn_type_uint64:
      return 8;
    default:
      return 4;
  }
}

std::string TensorName(const GraphPlan& plan, TensorId tensor) {
  switch (plan.tensors[tensor].role) {
    case TensorRole::kArgument:
      return absl::StrCat("argument", plan.tensors[tensor].number);
    case TensorRole::kResult:
      return absl::StrCat("result", plan.tensors[tensor].number);
    case TensorRole::kConstant:
      return absl::StrCat("constant", tensor);
    case TensorRole::kInternal:
      break;
  }
  return absl::StrCat("t", tensor);
}

std::string ToText(const GraphPlan& plan) {
  std::string text;
  for (size_t i = 0; i < plan.nodes.size(); ++i) {
    const PlanNode& node = plan.nodes[i];
    absl::StrAppend(&text, i, ": ", DescribeTensors(plan, node.results), " = ", node.guid, "(",
                    DescribeTensors(plan, node.operands), ")");
    if (!node.params.empty()) absl::StrAppend(&text, " params ", absl::BytesToHexString(node.params));
    if (!node.after.empty()) absl::StrAppend(&text, " after ", absl::StrJoin(node.after, ","));
    if (!node.name.empty()) absl::StrAppend(&text, "  # ", node.name);
    absl::StrAppend(&text, "\n");
  }
  return text;
}

std::vector<bool> LiveNodes(const GraphPlan& plan) {
  std::vector<bool> is_used(plan.tensors.size());
  for (size_t i = 0; i < plan.tensors.size(); ++i) is_used[i] = plan.tensors[i].role == TensorRole::kResult;
  std::vector<bool> is_live(plan.nodes.size());
  for (size_t i = plan.nodes.size(); i-- > 0;) {
    for (const TensorId result : plan.nodes[i].results) {
      if (result != kNoTensor && is_used[result]) is_live[i] = true;
    }
    if (!is_live[i]) continue;
    for (const TensorId operand : plan.nodes[i].operands) {
      if (operand != kNoTensor) is_used[operand] = true;
    }
  }
  return is_live;
}

void RemoveDeadNodes(GraphPlan* plan) {
  const std::vector<bool> is_live = LiveNodes(*plan);
  std::vector<int32_t> new_index(plan->nodes.size(), -1);
  std::vector<PlanNode> live;
  for (size_t i = 0; i < plan->nodes.size(); ++i) {
    if (!is_live[i]) continue;
    new_index[i] = static_cast<int32_t>(live.size());
    PlanNode node = std::move(plan->nodes[i]);
    std::vector<int32_t> after;
    for (const int32_t earlier : node.after) {
      if (new_index[earlier] >= 0) after.push_back(new_index[earlier]);
    }
    node.after = std::move(after);
    live.push_back(std::move(node));
  }
  plan->nodes = std::move(live);
}

}  // namespace hpu::gaudi
