#include "plugin/passes/analysis/variable_updates.h"

#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "plugin/compat/tf_2_15/cluster_compilation.h"
#include "plugin/op_facts/op_facts.h"

namespace hpu::passes {

bool UpdatesVariable(const tensorflow::Node& node) {
  const std::string& op = node.type_string();
  if (!node.op_def().is_stateful() || node.IsArg() || node.IsRetval()) return false;
  if (!absl::c_linear_search(node.input_types(), tensorflow::DT_RESOURCE)) return false;
  // A collective's handle is its communicator.
  if (node.IsCollective() || absl::StartsWith(op, "Collective") || absl::StartsWith(op, "HpuCollective")) return false;
  return !FactsOf(op).only_reads && !UsesStackOrTensorArray(op);
}

}  // namespace hpu::passes
