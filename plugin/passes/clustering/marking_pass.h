// Marking: decides for each node whether a cluster may hold it.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_MARKING_PASS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_MARKING_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/analysis/op_rules.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Sets kCandidateAttr on every node on an HPU that a cluster may hold, and kMustCompileAttr on calls of jit_compile
// functions. Every other node on an HPU gets a refusal in the report.
absl::Status MarkCandidates(PassContext* context);

// Decides on single nodes, and caches the decision on functions that several nodes call. Not thread safe.
class CandidateRules {
 public:
  // `context` outlives this.
  explicit CandidateRules(PassContext* context);
  ~CandidateRules();

  // Why a node must stay out of clusters; nullopt if a cluster may hold it. Ignores devices.
  std::optional<OpRefusal> Refuse(const tensorflow::Node& node);

  // The same for the functions that a node calls: branches, loop bodies, callees. A cluster would hold them whole.
  std::optional<OpRefusal> RefuseCallees(const tensorflow::Node& node);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_MARKING_PASS_H_
