// Re-clustering of a cluster without the ops that failed to compile.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_RECLUSTER_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_RECLUSTER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tensorflow/core/framework/function.h"

namespace hpu::passes {

// A function in place of a cluster's function.
struct SplitCluster {
  std::string function;              // replaces the cluster's function, with the same arguments and results
  int clusters = 0;                  // number of HabanaLaunch nodes in `function`; 0 if no launch is worthwhile
  std::vector<std::string> removed;  // nodes that were removed from all clusters
};

// Adds a function to `library` that computes the same as the cluster's function `cluster`, but runs the ops named in
// `refused` outside clusters. Also adds the functions of the new clusters. Places all nodes on `device` (a full name),
// where the function must run. If no named op can be removed, removes the ops whose results have sizes that depend on
// values, because XLA's errors about sizes name no ops. A call of a jit_compile function is not removed, but becomes a
// cluster that must compile: if `refused` names the call or a node inside it, or if no other op of the cluster can be
// removed. int32 arguments and results are in host memory, resources are handles, and all other values are on the
// device.
//
// Used for a cluster whose compile error names nodes. If `refused` names a node inside a called function, the calling
// node is removed; unknown names are ignored. The new clusters may fail and be split again. Each split removes at least
// one op, so the splitting ends.
//
// The function is named "<cluster>_split_<n>", and the m-th new cluster of cluster k "habana_cluster_<graph>_<k>_<m>".
// Numbers whose names the library already contains are skipped.
//
// Fails with NOT_FOUND if the library lacks the function. Without calls of jit_compile functions, fails with
// INVALID_ARGUMENT if an op in `refused` has no HPU kernel, or if the function contains none of the ops in `refused`.
// As thread safe as `library`.
absl::StatusOr<SplitCluster> ReclusterWithout(const std::string& cluster, const std::vector<std::string>& refused,
                                              const std::string& device,
                                              tensorflow::FunctionLibraryDefinition* library);

// Like ReclusterWithout, for a jit_compile function with random ops that draw by the state of their kernels, also in
// functions that it calls, and in loops and branches. Inlines these calls, and lowers these loops and branches. States
// and random ops without a rewrite (random_pass.h) run between the new clusters, which must compile.
//
// Fails with INVALID_ARGUMENT if there are no such ops.
absl::StatusOr<SplitCluster> ReclusterRandomOps(const std::string& function, const std::string& device,
                                                tensorflow::FunctionLibraryDefinition* library);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_RECLUSTER_H_
