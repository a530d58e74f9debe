#include "plugin/passes/analysis/op_rules.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugin/op_facts/card_draw.h"
#include "plugin/op_facts/op_facts.h"
#include "plugin/passes/graph/graph_util.h"

namespace hpu::passes {
namespace {

std::optional<OpRefusal> RefuseByTypes(const tensorflow::Node& node) {
  for (const tensorflow::DataType type : node.input_types()) {
    if (tensorflow::IsRefType(type))
      return OpRefusal{Rule::kReference, "has a reference variable as input, not a resource variable"};
    if (type == tensorflow::DT_STRING)
      return OpRefusal{Rule::kString, "has strings as input, which the device does not support"};
  }
  for (const tensorflow::DataType type : node.output_types()) {
    if (tensorflow::IsRefType(type))
      return OpRefusal{Rule::kReference, "returns a reference variable, not a resource variable"};
    if (type == tensorflow::DT_STRING)
      return OpRefusal{Rule::kString, "returns strings, which the device does not support"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<OpRefusal> RefuseByOp(const tensorflow::Node& node) {
  const std::string& op = node.type_string();
  const OpFacts& facts = FactsOf(op);
  if (node.IsControlFlow() || node.IsLoopCond() || node.IsControlTrigger()) {
    return OpRefusal{Rule::kControlFlow, "is part of lowered control flow, which runs between clusters"};
  }
  if (op == kPhiloxStateOp || op == kRandomOrderOp || op == kCheckIndicesOp || op == kCheckRangeOp ||
      op == kCheckValuesOp)
    return OpRefusal{Rule::kHost, "runs on the host on behalf of clusters"};
  if (op == "Placeholder") return OpRefusal{Rule::kBorder, "is fed by the caller"};
  if (node.IsSend() || node.IsRecv() || node.IsCollective() || absl::StartsWith(op, "Collective") ||
      absl::StartsWith(op, "HpuCollective")) {
    return OpRefusal{Rule::kCommunication,
                     "waits for other processes or devices, and could block the device inside a cluster"};
  }
  if (op == kLaunchOp || op == "XlaLaunch" || absl::StartsWith(op, "_Xla")) {
    return OpRefusal{Rule::kLaunch, "is already a compiled cluster"};
  }
  if (node.attrs().Find(kLateAttr) != nullptr) {
    return OpRefusal{Rule::kHost, "runs after the clusters that compute its condition"};
  }
  if (facts.loses_error) {
    return OpRefusal{Rule::kLostError, absl::StrCat(op, " raises errors or prints, which compiled code cannot do")};
  }
  if (op == "ToBool" && tensorflow::DataTypeIsComplex(node.input_type(0))) {
    return OpRefusal{Rule::kLostError, "a complex number is not a valid condition, but compiled code would accept it"};
  }
  if (facts.result_size == ResultSize::kData) {
    return OpRefusal{Rule::kDynamicSize, absl::StrCat("the size of ", op, "'s result depends on values")};
  }
  if (facts.random == RandomNumbers::kSeeded) {
    return OpRefusal{Rule::kRandom, absl::StrCat(op, " has seeds that compiled code would ignore")};
  }
  const bool is_card_draw = node.attrs().Find(kCardDrawAttribute) != nullptr;
  if (facts.random == RandomNumbers::kOther && !is_card_draw) {
    return OpRefusal{Rule::kRandom, absl::StrCat(op, " draws different numbers in compiled code than on the CPU")};
  }
  return RefuseByTypes(node);
}

bool KeepsValues(const tensorflow::OutputTensor& tensor) {
  return tensor.index == 0 && FactsOf(tensor.node->type_string()).keeps_values;
}

}  // namespace hpu::passes
