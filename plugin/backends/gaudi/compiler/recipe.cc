#include "plugin/backends/gaudi/compiler/recipe.h"

#include <unistd.h>

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/backends/gaudi/compiler/graph_compiler.h"
#include "plugin/backends/gaudi/lowerings/hlo_preparation.h"
#include "plugin/backends/gaudi/lowerings/lowering.h"
#include "plugin/base/status_macros.h"
#include "xla/service/hlo.pb.h"

namespace hpu::gaudi {

std::vector<LaunchTensor> LaunchTensors(const GraphPlan& plan, const ProgramTable& table) {
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
    LaunchTensor launch;
    launch.name = TensorName(plan, static_cast<TensorId>(i));
    launch.sizes = tensor.sizes;
    launch.bytes = tensor.bytes();
    launch.is_argument = is_argument;
    launch.number = tensor.number;
    if (!is_argument) launch.section_of = table.results[tensor.number].aliased_argument;
    tensors.push_back(std::move(launch));
  }
  return tensors;
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
  std::shared_ptr<GaudiRecipe> recipe(new GaudiRecipe(program.name, std::move(table), library));
  recipe->tensors_ = LaunchTensors(plan, recipe->table_);
  if (!plan.nodes.empty()) {
    HPU_ASSIGN_OR_RETURN(recipe->recipe_, CompileGraph(library, generation, program.name, plan, recipe->table_));
  }
  HPU_RETURN_IF_ERROR(recipe->PrepareLaunches());
  return recipe;
}

GaudiRecipe::GaudiRecipe(std::string name, ProgramTable table, const synapse::Library& library)
    : name_(std::move(name)), table_(std::move(table)), library_(library), process_(getpid()) {}

GaudiRecipe::~GaudiRecipe() {
  if (getpid() != process_) recipe_.release();
}

absl::StatusOr<std::unique_ptr<synapse::LaunchTable>> GaudiRecipe::MakeTable() const {
  auto table = std::make_unique<synapse::LaunchTable>(library_.profile());
  for (const LaunchTensor& tensor : tensors_) HPU_RETURN_IF_ERROR(table->Append(tensor.name, tensor.sizes));
  HPU_RETURN_IF_ERROR(library_.RetrieveIds(recipe_.get(), table.get()));
  return table;
}

absl::Status GaudiRecipe::PrepareLaunches() {
  if (recipe_.get() == nullptr) return absl::OkStatus();
  HPU_RETURN_IF_ERROR(HPU_SYNAPSE_CALL(library_.functions(), synWorkspaceGetSize, (&workspace_bytes_, recipe_.get()),
                                       "recipe=", name_));
  HPU_ASSIGN_OR_RETURN(std::unique_ptr<synapse::LaunchTable> table, MakeTable());
  free_tables_.push_back(std::move(table));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<synapse::LaunchTable>> GaudiRecipe::TakeTable() const {
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

void GaudiRecipe::ReturnTable(std::unique_ptr<synapse::LaunchTable> table) const {
  std::lock_guard<std::mutex> lock(mutex_);
  free_tables_.push_back(std::move(table));
}

absl::StatusOr<std::string> GaudiRecipe::Serialize() const {
  return absl::UnimplementedError(absl::StrCat("recipe ", name_, ": this version does not store recipes of a Gaudi"));
}

}  // namespace hpu::gaudi
