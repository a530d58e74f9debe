// Clustering a cluster again, without ops that turned out not to compile.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_RECLUSTER_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_RECLUSTER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tensorflow/core/framework/function.h"

namespace hpu::passes {

// A cluster that was cut again.
struct SplitCluster {
  std::string function;  // what to call in place of the cluster's function: same arguments and results, same order
  int clusters = 0;      // HabanaLaunch nodes in it; 0 means that nothing was left worth a launch
  std::vector<std::string> put_out;  // nodes of the cluster that are in none of them now
};

// Makes a function that does what the cluster's function `cluster` does, with the ops named in `refused` outside every
// cluster, and adds it and the functions of its clusters to `library`. Its nodes are placed on `device` (a full name);
// run it as a function of that device: int32 arguments and results in host memory, resources as handles, all else on
// the device.
//
// Use it when a cluster fails to compile and the error names nodes (a name may be that of a node inside a function that
// the cluster calls: then the calling node is meant; names that are found nowhere are ignored). The clusters of the
// result may fail and be split in turn: each round takes out at least one op, so that it ends.
//
// Names: "<cluster>_split_<n>", and "habana_cluster_<graph>_<k>_<m>" for the m-th new cluster of cluster k; those that
// the library has already are passed over.
//
// Errors: NOT_FOUND if the library lacks the function; INVALID_ARGUMENT if no op named in `refused` is in it (splitting
// would give the same cluster again). Thread safe as far as `library` is.
absl::StatusOr<SplitCluster> ReclusterWithout(const std::string& cluster, const std::vector<std::string>& refused,
                                              const std::string& device,
                                              tensorflow::FunctionLibraryDefinition* library);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_RECLUSTER_H_
