#include "plugin/passes/functions/function_identity.h"

#include "plugin/passes/functions/reachable_nodes.h"
#include "tensorflow/core/framework/attr_value_util.h"
#include "tensorflow/core/platform/hash.h"

namespace hpu::passes {
namespace {

using tensorflow::Hash64;
using tensorflow::Hash64Combine;
using tensorflow::NodeDef;

bool NamesFunctions(const tensorflow::AttrValue& value) { return value.has_func() || value.list().func_size() > 0; }

uint64_t ContentOf(const NodeDef& node, uint64_t op) {
  uint64_t hash = Hash64Combine(op, Hash64(node.name()));
  for (const std::string& input : node.input()) hash = Hash64Combine(hash, Hash64(input));
  uint64_t attributes = 0;  // a sum, because the map has no order
  for (const auto& [name, value] : node.attr()) {
    if (NamesFunctions(value)) continue;
    attributes += Hash64Combine(Hash64(name), tensorflow::AttrValueHash(value));
  }
  return Hash64Combine(hash, attributes);
}

}  // namespace

FunctionIdentity IdentityOf(const std::string& function, const tensorflow::FunctionLibraryDefinition& library) {
  FunctionIdentity identity;
  // Sums, because traces may list their nodes in different orders.
  FindReachableNode(function, library, [&](const NodeDef& node) {
    const uint64_t op = library.Find(node.op()) != nullptr ? 0 : Hash64(node.op());
    identity.ops += Hash64Combine(op, node.input_size());
    identity.content += ContentOf(node, op);
    return false;
  });
  return identity;
}

}  // namespace hpu::passes
