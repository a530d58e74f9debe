// CompiledGraph: a Synapse recipe with its launch tensors and launch tables.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_COMPILER_COMPILED_GRAPH_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_COMPILER_COMPILED_GRAPH_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/backends/gaudi/plan/program_plan.h"
#include "plugin/backends/gaudi/synapse/launch_table.h"
#include "plugin/backends/gaudi/synapse/library.h"

namespace hpu::gaudi {

// A persistent tensor of a graph. Each launch passes its address.
struct LaunchTensor {
  std::string name;
  Sizes sizes;
  MemoryId memory = kNoMemory;
};

// Tensors of a segment that have memory outside the graph.
std::vector<LaunchTensor> LaunchTensors(const SegmentPlan& segment);

// Thread safe. Must not outlive the library.
class CompiledGraph {
 public:
  // In release 1.18, fails if the recipe lacks one of the tensors.
  static absl::StatusOr<std::unique_ptr<CompiledGraph>> Create(const synapse::Library& library,
                                                               synapse::OwnedRecipe recipe,
                                                               std::vector<LaunchTensor> tensors);
  ~CompiledGraph();
  CompiledGraph(const CompiledGraph&) = delete;
  CompiledGraph& operator=(const CompiledGraph&) = delete;

  synapse::synRecipeHandle handle() const { return recipe_.get(); }
  const std::vector<LaunchTensor>& tensors() const { return tensors_; }
  uint64_t workspace_bytes() const { return workspace_bytes_; }

  // Launches the graph on a stream. `addresses`: the card's addresses of the program's memory, by MemoryId.
  // `workspace`: the card's address of workspace_bytes() bytes. Unavailable while the stream's queue is full.
  absl::Status Launch(synapse::synStreamHandle stream, const std::vector<uint64_t>& addresses,
                      uint64_t workspace) const;

 private:
  CompiledGraph(const synapse::Library& library, synapse::OwnedRecipe recipe, std::vector<LaunchTensor> tensors);

  absl::StatusOr<std::unique_ptr<synapse::LaunchTable>> MakeTable() const;
  // A free table, or a new one: each concurrent launch needs its own.
  absl::StatusOr<std::unique_ptr<synapse::LaunchTable>> TakeTable() const;
  void ReturnTable(std::unique_ptr<synapse::LaunchTable> table) const;

  const synapse::Library& library_;
  const pid_t process_;  // a forked child must not call SynapseAI
  synapse::OwnedRecipe recipe_;
  const std::vector<LaunchTensor> tensors_;
  uint64_t workspace_bytes_ = 0;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<synapse::LaunchTable>> free_tables_;  // guarded by mutex_
};

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_COMPILER_COMPILED_GRAPH_H_
