// Marking: decides which nodes may be in clusters.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_MARKING_PASS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_MARKING_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/analysis/op_rules.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Sets kCandidateAttr on every HPU node that may be in a cluster. Of these, calls of jit_compile functions also have
// kJitCallAttr. Sets kMustCompileAttr on calls that must be clusters by themselves (jit_calls.h). Afterwards, the
// report contains a refusal of every other HPU node.
absl::Status MarkCandidates(PassContext* context);

// Decides whether a node may be in a cluster. Caches decisions on called functions. Not thread safe.
class CandidateRules {
 public:
  // `context` must outlive this object.
  explicit CandidateRules(PassContext* context);
  ~CandidateRules();

  // The rule that excludes a node from clusters, or nullopt. Ignores the node's own device.
  std::optional<OpRefusal> Refuse(const tensorflow::Node& node);

  // Refuses a node because of the functions that the node calls (branches, loop bodies, callees), which a cluster would
  // contain whole. Also checks that the node itself can be compiled. Returns the rule that excludes the node, or
  // nullopt.
  std::optional<OpRefusal> RefuseCallees(const tensorflow::Node& node);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_MARKING_PASS_H_
