#include "plugin/passes/analysis/lowerings.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/base/status_payloads.h"
#include "plugin/passes/analysis/kernel_search.h"
#include "plugin/passes/graph/graph_util.h"
#include "tensorflow/core/framework/kernel_def.pb.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op.h"

namespace hpu::passes {
namespace {

using tensorflow::DataType;
using tensorflow::FunctionDef;
using tensorflow::FunctionLibraryDefinition;
using tensorflow::KernelDef;
using tensorflow::NodeDef;
using tensorflow::OpDef;

constexpr char kWayOut[] = "Move the op out of the function, or remove jit_compile=True";

const KernelDef* FindCompilationKernel(const NodeDef& node) { return FindKernel(CompilationDevice(), node); }

bool IsForAllDevices(const KernelDef* kernel) {
  return kernel != nullptr && kernel->device_type() == tensorflow::DEVICE_DEFAULT;
}

const OpDef* OpOf(const NodeDef& node) {
  const tensorflow::OpRegistrationData* op = tensorflow::OpRegistry::Global()->LookUp(node.op());
  return op == nullptr ? nullptr : &op->op_def;
}

std::vector<DataType> TypesOf(const NodeDef& node, const OpDef& op) {
  tensorflow::DataTypeVector inputs, outputs;
  if (!tensorflow::InOutTypesForNode(node, op, &inputs, &outputs).ok()) return {};
  std::vector<DataType> types(inputs.begin(), inputs.end());
  types.insert(types.end(), outputs.begin(), outputs.end());
  return types;
}

// Ops that need no lowering, because they are removed before compilation: lowered control flow becomes functional
// again, constants are folded, assertions are dropped.
bool IsRemovedBeforeCompilation(const NodeDef& node) {
  static const auto* ops = new absl::flat_hash_set<std::string_view>{
      "Assert", "Const", "Enter", "Exit", "LoopCond", "Merge", "NextIteration", "Switch", "_SwitchN", "_XlaMerge"};
  return ops->contains(node.op()) || node.op() == FunctionLibraryDefinition::kGradientOp;
}

// Whether constant folding may remove a node.
bool MayBeFolded(const NodeDef& node, const OpDef& op) {
  return !op.is_stateful() && absl::c_none_of(TypesOf(node, op), [](DataType type) {
    return type == tensorflow::DT_RESOURCE || type == tensorflow::DT_VARIANT;
  });
}

std::string NodeOf(std::string_view input) {
  if (absl::StartsWith(input, "^")) input.remove_prefix(1);
  return std::string(input.substr(0, input.find(':')));
}

// The nodes that a function's results and side effects need.
std::vector<const NodeDef*> NeededNodes(const FunctionDef& function) {
  absl::flat_hash_map<std::string, const NodeDef*> nodes;
  std::vector<std::string> waiting;
  for (const NodeDef& node : function.node_def()) {
    nodes[node.name()] = &node;
    const OpDef* op = OpOf(node);
    if (op == nullptr || op->is_stateful()) waiting.push_back(node.name());
  }
  for (const auto& [name, value] : function.ret()) waiting.push_back(NodeOf(value));
  for (const auto& [name, value] : function.control_ret()) waiting.push_back(NodeOf(value));
  absl::flat_hash_set<std::string> seen;
  std::vector<const NodeDef*> needed;
  while (!waiting.empty()) {
    const std::string name = std::move(waiting.back());
    waiting.pop_back();
    const auto found = nodes.find(name);
    if (found == nodes.end() || !seen.insert(name).second) continue;  // an argument, or already seen
    needed.push_back(found->second);
    for (const std::string& input : found->second->input()) waiting.push_back(NodeOf(input));
  }
  return needed;
}

std::string Describe(const NodeDef& node) {
  return absl::StrCat(node.name(), " (", node.op(), ") ", WhyNoLowering(node), " {{node ", node.name(), "}}");
}

}  // namespace

bool HasLowering(const NodeDef& node) {
  const KernelDef* kernel = FindCompilationKernel(node);
  return kernel != nullptr && !IsForAllDevices(kernel);
}

std::string WhyNoLowering(const NodeDef& node) {
  const OpDef* op = OpOf(node);
  if (op == nullptr) return "is not a registered op";
  if (absl::StrContains(node.op(), "PyFunc")) return "calls Python";
  if (absl::StartsWith(node.op(), "Print") || node.op() == "StringFormat") return "prints";
  const std::vector<DataType> types = TypesOf(node, *op);
  if (absl::StartsWith(node.op(), "Lookup") || absl::StrContains(node.op(), "HashTable")) {
    return "looks up values in a table on the host";
  }
  if (absl::c_linear_search(types, tensorflow::DT_STRING)) return "uses strings, which the HPU does not support";
  if (absl::c_linear_search(types, tensorflow::DT_RESOURCE)) return "uses a resource on the host";
  return "cannot be lowered to XLA";
}

absl::Status CheckLowerings(const std::string& function, const FunctionLibraryDefinition& library,
                            const std::function<bool(std::string_view op)>& exempt) {
  std::vector<std::string> waiting = {function}, failures;
  bool certain = false;
  absl::flat_hash_set<std::string> seen = {function};
  const auto visit = [&](const std::string& callee) {
    if (seen.insert(callee).second) waiting.push_back(callee);
  };
  while (!waiting.empty()) {
    const FunctionDef* definition = library.Find(waiting.back());
    waiting.pop_back();
    if (definition == nullptr) continue;
    for (const NodeDef* node : NeededNodes(*definition)) {
      visit(node->op());
      for (const auto& [name, value] : node->attr()) {
        if (value.has_func()) visit(value.func().name());
        for (const auto& callee : value.list().func()) visit(callee.name());
      }
      const OpDef* op = OpOf(*node);
      if (op == nullptr || exempt(node->op()) || IsRemovedBeforeCompilation(*node) || HasLowering(*node)) continue;
      certain |= IsForAllDevices(FindCompilationKernel(*node)) || !MayBeFolded(*node, *op);
      failures.push_back(Describe(*node));
    }
  }
  if (!certain) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("jit_compile=True: ", function, " cannot be compiled for the HPU: ",
                                                 absl::StrJoin(failures, "; "), ". ", kWayOut));
}

absl::Status MustCompileFailure(const std::string& function, const FunctionLibraryDefinition& library,
                                const absl::Status& failure, const std::vector<std::string>& nodes) {
  std::vector<std::string> reasons;
  if (const FunctionDef* definition = library.Find(function); definition != nullptr) {
    for (const NodeDef& node : definition->node_def()) {
      if (!absl::c_linear_search(nodes, node.name()) || OpOf(node) == nullptr || HasLowering(node)) continue;
      reasons.push_back(absl::StrCat(node.name(), " (", node.op(), ") ", WhyNoLowering(node)));
    }
  }
  const std::string what = absl::StrCat("jit_compile=True: ", function, " cannot be compiled for the HPU: ");
  if (reasons.empty()) return Reworded(failure, absl::StrCat(what, failure.message()));
  return Reworded(failure, absl::StrCat(what, absl::StrJoin(reasons, "; "), ". ", kWayOut,
                                        ". Compiler error: ", failure.message()));
}

}  // namespace hpu::passes
