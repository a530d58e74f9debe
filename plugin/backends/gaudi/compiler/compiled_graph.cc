#include "plugin/backends/gaudi/compiler/compiled_graph.h"

#include <unistd.h>

#include <utility>

#include "plugin/base/status_macros.h"

namespace hpu::gaudi {

std::vector<LaunchTensor> LaunchTensors(const SegmentPlan& segment) {
  const GraphPlan& plan = segment.graph;
  std::vector<bool> is_used(plan.tensors.size());
  const auto mark = [&](const std::vector<TensorId>& tensors) {
    for (const TensorId id : tensors) {
      if (id != kNoTensor) is_used[id] = true;
    }
  };
  for (const PlanNode& node : plan.nodes) {
    mark(node.operands);
    mark(node.results);
  }
  std::vector<LaunchTensor> tensors;
  for (size_t i = 0; i < plan.tensors.size(); ++i) {
    const PlanTensor& tensor = plan.tensors[i];
    const bool is_argument = tensor.role == TensorRole::kArgument;
    if (!is_used[i] || (!is_argument && tensor.role != TensorRole::kResult)) continue;
    tensors.push_back({TensorName(plan, static_cast<TensorId>(i)), tensor.sizes,
                       (is_argument ? segment.arguments : segment.results)[tensor.number]});
  }
  return tensors;
}

CompiledGraph::CompiledGraph(const synapse::Library& library, synapse::OwnedRecipe recipe,
                             std::vector<LaunchTensor> tensors)
    : library_(library), process_(getpid()), recipe_(std::move(recipe)), tensors_(std::move(tensors)) {}

CompiledGraph::~CompiledGraph() {
  if (getpid() != process_) recipe_.release();
}

absl::StatusOr<std::unique_ptr<CompiledGraph>> CompiledGraph::Create(const synapse::Library& library,
                                                                     synapse::OwnedRecipe recipe,
                                                                     std::vector<LaunchTensor> tensors) {
  std::unique_ptr<CompiledGraph> graph(new CompiledGraph(library, std::move(recipe), std::move(tensors)));
  HPU_RETURN_IF_ERROR(
      HPU_SYNAPSE_CALL(library.functions(), synWorkspaceGetSize, (&graph->workspace_bytes_, graph->handle())));
  HPU_ASSIGN_OR_RETURN(std::unique_ptr<synapse::LaunchTable> table, graph->MakeTable());
  graph->ReturnTable(std::move(table));
  return graph;
}

absl::Status CompiledGraph::Launch(synapse::synStreamHandle stream, const std::vector<uint64_t>& addresses,
                                   uint64_t workspace) const {
  HPU_ASSIGN_OR_RETURN(std::unique_ptr<synapse::LaunchTable> table, TakeTable());
  for (size_t i = 0; i < tensors_.size(); ++i) table->SetAddress(i, addresses[tensors_[i].memory]);
  const absl::Status status = library_.Launch(stream, *table, workspace_bytes_ == 0 ? 0 : workspace, handle());
  ReturnTable(std::move(table));
  return status;
}

absl::StatusOr<std::unique_ptr<synapse::LaunchTable>> CompiledGraph::MakeTable() const {
  auto table = std::make_unique<synapse::LaunchTable>(library_.profile());
  for (const LaunchTensor& tensor : tensors_) HPU_RETURN_IF_ERROR(table->Append(tensor.name, tensor.sizes));
  HPU_RETURN_IF_ERROR(library_.RetrieveIds(recipe_.get(), table.get()));
  return table;
}

absl::StatusOr<std::unique_ptr<synapse::LaunchTable>> CompiledGraph::TakeTable() const {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!free_tables_.empty()) {
      std::unique_ptr<synapse::LaunchTable> table = std::move(free_tables_.back());
      free_tables_.pop_back();
      return table;
    }
  }
  return MakeTable();
}

void CompiledGraph::ReturnTable(std::unique_ptr<synapse::LaunchTable> table) const {
  std::lock_guard<std::mutex> lock(mutex_);
  free_tables_.push_back(std::move(table));
}

}  // namespace hpu::gaudi
