// Re-clustering of a cluster without the ops that turned out not to compile.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_RECLUSTER_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_RECLUSTER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tensorflow/core/framework/function.h"

namespace hpu::passes {

// The result of splitting a cluster.
struct SplitCluster {
  std::string function;              // replaces the cluster's function: same arguments and results, in the same order
  int clusters = 0;                  // HabanaLaunch nodes in it; 0: no op left is worth a launch
  std::vector<std::string> put_out;  // nodes of the old cluster that are in no new one
};

// Makes a function equivalent to the cluster's function `cluster`, with the ops named in `refused` outside every
// cluster. Adds it and the functions of its clusters to `library`. Its nodes are placed on `device` (a full name). Run
// it as a function of that device: int32 arguments and results in host memory, resources as handles, all else on the
// device.
//
// Use it when a cluster fails to compile and the error names nodes. The name of a node inside a called function stands
// for the calling node; unknown names are ignored. The clusters of the result may fail and be split in turn. Each round
// removes at least one op, so the process ends.
//
// Names: "<cluster>_split_<n>", and "habana_cluster_<graph>_<k>_<m>" for the m-th new cluster of cluster k. Names that
// the library already has are skipped.
//
// Errors: NOT_FOUND if the library lacks the function; INVALID_ARGUMENT if it has none of the ops in `refused`, because
// splitting would give the same cluster again. As thread safe as `library`.
absl::StatusOr<SplitCluster> ReclusterWithout(const std::string& cluster, const std::vector<std::string>& refused,
                                              const std::string& device,
                                              tensorflow::FunctionLibraryDefinition* library);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_RECLUSTER_H_
