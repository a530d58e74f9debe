#include "plugin/backends/gaudi/compiler/recipe.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "hpu/recipe/v1/gaudi.pb.h"
#include "plugin/backends/gaudi/compiler/graph_compiler.h"
#include "plugin/backends/gaudi/compiler/recipe_file.h"
#include "plugin/backends/gaudi/lowerings/hlo_preparation.h"
#include "plugin/backends/gaudi/lowerings/lowering.h"
#include "plugin/base/status_macros.h"
#include "plugin/program/recipe_container.h"
#include "xla/service/hlo.pb.h"

namespace hpu::gaudi {
namespace {

constexpr absl::string_view kKind = "gaudi";

void ToMessage(const LaunchTensor& tensor, recipe::v1::LaunchTensor* message) {
  message->set_name(tensor.name);
  message->mutable_sizes()->Add(tensor.sizes.begin(), tensor.sizes.end());
  message->set_bytes(tensor.bytes);
  message->set_is_argument(tensor.is_argument);
  message->set_number(static_cast<uint32_t>(tensor.number));
}

LaunchTensor FromMessage(const recipe::v1::LaunchTensor& message) {
  return {message.name(), Sizes(message.sizes().begin(), message.sizes().end()), message.bytes(), message.is_argument(),
          static_cast<int32_t>(message.number())};
}

// Whether each tensor is an argument or result of the table, with its size.
bool Matches(const recipe::v1::SynapseGraph& graph, const ProgramTable& table) {
  for (const recipe::v1::LaunchTensor& tensor : graph.tensors()) {
    const size_t count = tensor.is_argument() ? table.arguments.size() : table.results.size();
    if (tensor.number() >= count) return false;
    const hal::TensorSpec& spec =
        tensor.is_argument() ? table.arguments[tensor.number()] : table.results[tensor.number()].spec;
    if (tensor.bytes() != spec.bytes) return false;
  }
  return true;
}

// The serialised recipe.
absl::StatusOr<std::string> ToBytes(const synapse::Library& library, const std::string& target,
                                    const ProgramTable& table, const CompiledGraph* graph) {
  recipe::v1::GaudiPayload payload;
  RecipeContainer container;
  container.kind = std::string(kKind);
  container.target = target;
  container.table = table;
  std::string binary;
  if (graph != nullptr) {
    recipe::v1::SynapseGraph* message = payload.add_graphs();
    for (const LaunchTensor& tensor : graph->tensors()) ToMessage(tensor, message->add_tensors());
    container.workspace_bytes = graph->workspace_bytes();
    HPU_ASSIGN_OR_RETURN(binary, SerializeSynapseRecipe(library, graph->handle()));
    container.binaries = {binary};
  }
  container.payload = payload.SerializeAsString();
  return container.Serialize();
}

}  // namespace

GaudiRecipe::GaudiRecipe(std::string name, ProgramTable table, const synapse::Library& library,
                         std::unique_ptr<CompiledGraph> graph, std::string serialized)
    : name_(std::move(name)),
      table_(std::move(table)),
      library_(library),
      graph_(std::move(graph)),
      serialized_(std::move(serialized)),
      is_written_(table_.arguments.size()) {
  if (graph_ == nullptr) return;
  for (const LaunchTensor& tensor : graph_->tensors()) {
    const int32_t argument = tensor.is_argument ? -1 : table_.results[tensor.number].aliased_argument;
    if (argument >= 0) is_written_[argument] = true;
  }
}

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
  HPU_ASSIGN_OR_RETURN(const std::unique_ptr<xla::HloModule> module, PrepareModule(proto));
  HPU_ASSIGN_OR_RETURN(const GraphPlan plan, LowerModule(*module, table, {generation, library.profile()}));
  std::unique_ptr<CompiledGraph> graph;
  if (!plan.nodes.empty()) {
    HPU_ASSIGN_OR_RETURN(synapse::OwnedRecipe recipe, CompileGraph(library, generation, program.name, plan, table));
    HPU_ASSIGN_OR_RETURN(graph, CompiledGraph::Create(library, std::move(recipe), LaunchTensors(plan)));
  }
  HPU_ASSIGN_OR_RETURN(std::string bytes, ToBytes(library, target, table, graph.get()));
  return std::shared_ptr<const GaudiRecipe>(
      new GaudiRecipe(program.name, std::move(table), library, std::move(graph), std::move(bytes)));
}

absl::StatusOr<std::shared_ptr<const GaudiRecipe>> GaudiRecipe::Load(const synapse::Library& library,
                                                                     const std::string& target, absl::string_view name,
                                                                     absl::string_view bytes) {
  HPU_ASSIGN_OR_RETURN(RecipeContainer container, RecipeContainer::Parse(name, bytes, kKind, target));
  recipe::v1::GaudiPayload payload;
  const bool is_valid = payload.ParseFromString(container.payload) && payload.graphs_size() <= 1 &&
                        container.binaries.size() == static_cast<size_t>(payload.graphs_size()) &&
                        (payload.graphs_size() == 0 || Matches(payload.graphs(0), container.table));
  if (!is_valid) {
    return UnusableRecipe(name, absl::StrCat("invalid payload of ", container.payload.size(), " bytes"));
  }
  std::unique_ptr<CompiledGraph> graph;
  if (payload.graphs_size() > 0) {
    std::vector<LaunchTensor> tensors;
    for (const recipe::v1::LaunchTensor& tensor : payload.graphs(0).tensors()) tensors.push_back(FromMessage(tensor));
    HPU_ASSIGN_OR_RETURN(synapse::OwnedRecipe recipe, LoadSynapseRecipe(library, container.binaries[0]));
    HPU_ASSIGN_OR_RETURN(graph, CompiledGraph::Create(library, std::move(recipe), std::move(tensors)));
    if (graph->workspace_bytes() != container.workspace_bytes) {
      return UnusableRecipe(name, "its workspace differs from that of its Synapse recipe");
    }
  }
  return std::shared_ptr<const GaudiRecipe>(
      new GaudiRecipe(std::string(name), std::move(container.table), library, std::move(graph), std::string(bytes)));
}

}  // namespace hpu::gaudi
