// A place for TensorLists that no cluster holds.
#ifndef HPU_PLUGIN_PASSES_LIST_PLACEMENT_H_
#define HPU_PLUGIN_PASSES_LIST_PLACEMENT_H_

#include "plugin/passes/report.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// TensorFlow's kernels of TensorList ops compute on the host, on whatever device they are registered for; device memory
// faults under them. So ops that share a TensorList outside clusters go to the CPU, the loops' Merge and Switch with
// them, and TensorFlow copies what they take and give. Ops with resource handles stay, because their variables do. To
// be called when clusters are marked (kClusterAttr).
void MoveListsToTheHost(tensorflow::Graph* graph, Report* report);

// The name of the CPU beside an HPU: the first one of the same task.
std::string HostOf(const std::string& device);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_LIST_PLACEMENT_H_
