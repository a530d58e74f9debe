#include "plugin/backends/gaudi/compiler/recipe.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/backends/gaudi/compiler/graph_compiler.h"
#include "plugin/backends/gaudi/compiler/recipe_file.h"
#include "plugin/backends/gaudi/lowerings/hlo_preparation.h"
#include "plugin/backends/gaudi/lowerings/program_lowering.h"
#include "plugin/base/status_macros.h"
#include "plugin/program/recipe_container.h"
#include "xla/service/hlo.pb.h"

namespace hpu::gaudi {
namespace {

constexpr absl::string_view kKind = "gaudi";

using Graphs = std::vector<std::unique_ptr<CompiledGraph>>;

// Graphs run one at a time, so they share their workspace.
uint64_t WorkspaceBytesOf(const Graphs& graphs) {
  uint64_t bytes = 0;
  for (const std::unique_ptr<CompiledGraph>& graph : graphs) bytes = std::max(bytes, graph->workspace_bytes());
  return bytes;
}

bool HasLoops(const RecipePayload& payload) {
  for (const Step& step : payload.steps) {
    if (step.graph < 0) return true;
  }
  return false;
}

// The serialised recipe.
absl::StatusOr<std::string> ToBytes(const synapse::Library& library, const std::string& target,
                                    const ProgramTable& table, const RecipePayload& payload, const Graphs& graphs) {
  RecipeContainer container;
  container.kind = std::string(kKind);
  container.target = target;
  container.table = table;
  container.workspace_bytes = payload.buffer_bytes + WorkspaceBytesOf(graphs);
  container.payload = SerializePayload(payload);
  std::vector<std::string> binaries;
  for (const std::unique_ptr<CompiledGraph>& graph : graphs) {
    HPU_ASSIGN_OR_RETURN(std::string binary, SerializeSynapseRecipe(library, graph->handle()));
    binaries.push_back(std::move(binary));
  }
  container.binaries.assign(binaries.begin(), binaries.end());
  return container.Serialize();
}

}  // namespace

GaudiRecipe::GaudiRecipe(std::string name, ProgramTable table, const synapse::Library& library, RecipePayload payload,
                         Graphs graphs, std::string serialized)
    : name_(std::move(name)),
      table_(std::move(table)),
      library_(library),
      payload_(std::move(payload)),
      graphs_(std::move(graphs)),
      graph_workspace_bytes_(WorkspaceBytesOf(graphs_)),
      has_loops_(HasLoops(payload_)),
      serialized_(std::move(serialized)) {}

absl::StatusOr<std::shared_ptr<const GaudiRecipe>> GaudiRecipe::Compile(const synapse::Library& library,
                                                                        synapse::Generation generation,
                                                                        const std::string& target,
                                                                        const hal::Program& program) {
  xla::HloModuleProto proto;
  if (program.hlo.size() > static_cast<size_t>(std::numeric_limits<int>::max()) ||
      !proto.ParseFromString(program.hlo)) {
    return absl::InvalidArgumentError(absl::StrCat("program '", program.name, "' is not a serialised HloModuleProto (",
                                                   program.hlo.size(), " bytes)"));
  }
  HPU_ASSIGN_OR_RETURN(ProgramTable table, MakeProgramTable(proto));
  const PlanTarget plan_target = {generation, library.profile()};
  HPU_ASSIGN_OR_RETURN(const std::unique_ptr<xla::HloModule> module, PrepareModule(proto, plan_target));
  HPU_ASSIGN_OR_RETURN(const ProgramPlan plan, LowerProgram(*module, table, plan_target));
  RecipePayload payload = MakePayload(plan);
  Graphs graphs;
  for (size_t i = 0; i < plan.segments.size(); ++i) {
    const SegmentPlan& segment = plan.segments[i];
    const std::string name = plan.segments.size() == 1 ? program.name : absl::StrCat(program.name, "_graph", i);
    HPU_ASSIGN_OR_RETURN(synapse::OwnedRecipe recipe,
                         CompileGraph(library, generation, name, segment.graph, segment.table));
    HPU_ASSIGN_OR_RETURN(auto graph, CompiledGraph::Create(library, std::move(recipe), payload.graphs[i]));
    graphs.push_back(std::move(graph));
  }
  HPU_ASSIGN_OR_RETURN(std::string bytes, ToBytes(library, target, table, payload, graphs));
  return std::shared_ptr<const GaudiRecipe>(new GaudiRecipe(program.name, std::move(table), library, std::move(payload),
                                                            std::move(graphs), std::move(bytes)));
}

absl::StatusOr<std::shared_ptr<const GaudiRecipe>> GaudiRecipe::Load(const synapse::Library& library,
                                                                     const std::string& target, absl::string_view name,
                                                                     absl::string_view bytes) {
  HPU_ASSIGN_OR_RETURN(RecipeContainer container, RecipeContainer::Parse(name, bytes, kKind, target));
  std::optional<RecipePayload> payload = ParsePayload(container.payload, container.table);
  if (!payload.has_value() || payload->graphs.size() != container.binaries.size()) {
    return UnusableRecipe(name, absl::StrCat("invalid payload of ", container.payload.size(), " bytes"));
  }
  Graphs graphs;
  for (size_t i = 0; i < payload->graphs.size(); ++i) {
    HPU_ASSIGN_OR_RETURN(synapse::OwnedRecipe recipe, LoadSynapseRecipe(library, container.binaries[i]));
    HPU_ASSIGN_OR_RETURN(auto graph, CompiledGraph::Create(library, std::move(recipe), payload->graphs[i]));
    graphs.push_back(std::move(graph));
  }
  if (payload->buffer_bytes + WorkspaceBytesOf(graphs) != container.workspace_bytes) {
    return UnusableRecipe(name, absl::StrCat("the header records a workspace of ", container.workspace_bytes,
                                             " bytes, but the Synapse recipes and buffers need ",
                                             payload->buffer_bytes + WorkspaceBytesOf(graphs)));
  }
  return std::shared_ptr<const GaudiRecipe>(new GaudiRecipe(std::string(name), std::move(container.table), library,
                                                            *std::move(payload), std::move(graphs),
                                                            std::string(bytes)));
}

}  // namespace hpu::gaudi
