// Search through the nodes of a function and of the functions that it calls.
#ifndef HPU_PLUGIN_PASSES_FUNCTIONS_REACHABLE_NODES_H_
#define HPU_PLUGIN_PASSES_FUNCTIONS_REACHABLE_NODES_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "tensorflow/core/framework/function.h"

namespace hpu::passes {

// The first node of `function`, or of functions that its nodes call or name in attributes, for which `test` is true;
// null if there is none. `test` is callable as bool(const NodeDef&). Functions that the library lacks have no nodes.
template <typename Test>
const tensorflow::NodeDef* FindReachableNode(const std::string& function,
                                             const tensorflow::FunctionLibraryDefinition& library, const Test& test) {
  std::vector<std::string> waiting = {function};
  absl::flat_hash_set<std::string> seen = {function};
  const auto visit = [&](const std::string& callee) {
    if (seen.insert(callee).second) waiting.push_back(callee);
  };
  while (!waiting.empty()) {
    const tensorflow::FunctionDef* definition = library.Find(waiting.back());
    waiting.pop_back();
    if (definition == nullptr) continue;
    for (const tensorflow::NodeDef& node : definition->node_def()) {
      if (test(node)) return &node;
      visit(node.op());
      for (const auto& [name, value] : node.attr()) {
        if (value.has_func()) visit(value.func().name());
        for (const auto& callee : value.list().func()) visit(callee.name());
      }
    }
  }
  return nullptr;
}

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_FUNCTIONS_REACHABLE_NODES_H_
