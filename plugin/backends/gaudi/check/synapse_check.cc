#include "plugin/backends/gaudi/check/synapse_check.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "plugin/backends/gaudi/check/example_nodes.h"
#include "plugin/backends/gaudi/check/program_file.h"
#include "plugin/backends/gaudi/compiler/graph_compiler.h"
#include "plugin/backends/gaudi/device/compiler_target.h"
#include "plugin/backends/gaudi/device/runtime.h"
#include "plugin/backends/gaudi/lowerings/hlo_preparation.h"
#include "plugin/backends/gaudi/lowerings/program_lowering.h"
#include "plugin/base/status_macros.h"
#include "plugin/program/program_table.h"

namespace hpu::gaudi {
namespace {

// A plan, and the table of its arguments and results.
struct PlannedGraph {
  GraphPlan plan;
  ProgramTable table;
};

// A table of the plan's arguments and results, without aliases. Specs are empty.
ProgramTable TableOf(const GraphPlan& plan) {
  ProgramTable table;
  const auto grow = [](auto* specs, int32_t number) {
    specs->resize(std::max(specs->size(), static_cast<size_t>(number) + 1));
  };
  for (const PlanTensor& tensor : plan.tensors) {
    if (tensor.role == TensorRole::kArgument) grow(&table.arguments, tensor.number);
    if (tensor.role == TensorRole::kResult) grow(&table.results, tensor.number);
  }
  return table;
}

// The optional functions that the library lacks.
std::vector<std::string> MissingFunctions(const synapse::Library& library) {
  std::vector<std::string> missing;
#define HPU_CHECK_FUNCTION(name, parameters) \
  if (table.name == nullptr) missing.push_back(#name);
  {
    const synapse::Functions& table = library.functions();
    HPU_SYNAPSE_OPTIONAL(HPU_CHECK_FUNCTION)
  }
  if (library.profile() == synapse::Profile::k1_5) {
    const synapse::v1_5::Functions& table = library.functions_1_5();
    HPU_SYNAPSE_PROFILE_OPTIONAL(HPU_CHECK_FUNCTION)
  } else {
    const synapse::v1_18::Functions& table = library.functions_1_18();
    HPU_SYNAPSE_PROFILE_OPTIONAL(HPU_CHECK_FUNCTION)
    HPU_SYNAPSE_1_18_OPTIONAL(HPU_CHECK_FUNCTION)
  }
#undef HPU_CHECK_FUNCTION
  return missing;
}

// Number of the machine's cards of a generation; 0 if the library cannot count them.
uint32_t CountCards(const synapse::Library& library, synapse::Generation generation) {
  const absl::StatusOr<uint32_t> type = synapse::ToDeviceType(library.profile(), generation);
  if (!type.ok()) return 0;
  uint32_t count = 0;
  const auto count_by = [&](const auto& functions, auto device_type) {
    return HPU_SYNAPSE_CALL(functions, synDeviceGetCountByDeviceType, (&count, device_type), "type=", *type);
  };
  const absl::Status status =
      library.profile() == synapse::Profile::k1_5
          ? count_by(library.functions_1_5(), static_cast<synapse::v1_5::synDeviceType>(*type))
          : count_by(library.functions_1_18(), static_cast<synapse::v1_18::synDeviceType>(*type));
  return status.ok() ? count : 0;
}

synapse::Generation DefaultGeneration(const synapse::Library& library) {
  for (const synapse::Generation generation : synapse::kGenerations) {
    if (CountCards(library, generation) > 0) return generation;
  }
  return library.profile() == synapse::Profile::k1_5 ? synapse::Generation::kGaudi : synapse::Generation::kGaudi2;
}

// The outcome of a graph whose plan cannot be made.
CheckOutcome OutcomeOfPlan(const absl::Status& status, bool is_program) {
  if (is_program) return absl::IsUnimplemented(status) ? CheckOutcome::kNotLowered : CheckOutcome::kNoProgram;
  return absl::IsNotFound(status) ? CheckOutcome::kNoExample : CheckOutcome::kNotInRelease;
}

class Checker {
 public:
  Checker(const synapse::Library& library, synapse::Generation generation, CheckListener* listener)
      : library_(library), target_{generation, library.profile()}, listener_(*listener) {}

  void CheckNode(const TypedGuid& node, size_t index) {
    CheckedGraph graph;
    graph.index = index;
    graph.stem = std::string(node.guid->stem);
    graph.type = node.type_text();
    graph.name = node.name();
    Check(std::move(graph), [&]() -> absl::StatusOr<std::vector<PlannedGraph>> {
      HPU_ASSIGN_OR_RETURN(GraphPlan plan, ExamplePlan(node, target_));
      ProgramTable table = TableOf(plan);
      std::vector<PlannedGraph> graphs;
      graphs.push_back({std::move(plan), std::move(table)});
      return graphs;
    });
  }

  void CheckProgram(const std::string& path, size_t index) {
    CheckedGraph graph;
    graph.index = index;
    graph.name = path;
    Check(std::move(graph), [&]() -> absl::StatusOr<std::vector<PlannedGraph>> {
      HPU_ASSIGN_OR_RETURN(const xla::HloModuleProto proto, ReadProgram(path));
      HPU_ASSIGN_OR_RETURN(const ProgramTable table, MakeProgramTable(proto));
      HPU_ASSIGN_OR_RETURN(const std::unique_ptr<xla::HloModule> module, PrepareModule(proto, target_));
      HPU_ASSIGN_OR_RETURN(ProgramPlan program, LowerProgram(*module, table, target_));
      std::vector<PlannedGraph> graphs;
      for (SegmentPlan& segment : program.segments) {
        graphs.push_back({std::move(segment.graph), std::move(segment.table)});
      }
      return graphs;
    });
  }

 private:
  template <typename MakePlan>
  void Check(CheckedGraph graph, MakePlan make_plan) {
    listener_.OnGraph(graph);
    const absl::StatusOr<std::vector<PlannedGraph>> planned = make_plan();
    if (!planned.ok()) {
      graph.outcome = OutcomeOfPlan(planned.status(), graph.stem.empty());
      graph.reason = std::string(planned.status().message());
    } else {
      for (const PlannedGraph& part : *planned) graph.plan += ToText(part.plan);
      listener_.OnGraph(graph);
      const absl::Status status = CompileAll(graph.name, *planned);
      graph.outcome = status.ok() ? CheckOutcome::kOk : CheckOutcome::kRefused;
      graph.reason = std::string(status.message());
    }
    listener_.OnGraph(graph);
  }

  absl::Status CompileAll(const std::string& name, const std::vector<PlannedGraph>& graphs) const {
    for (const PlannedGraph& graph : graphs) {
      HPU_RETURN_IF_ERROR(CompileGraph(library_, target_.generation, name, graph.plan, graph.table).status());
    }
    return absl::OkStatus();
  }

  const synapse::Library& library_;
  const PlanTarget target_;
  CheckListener& listener_;
};

}  // namespace

absl::StatusOr<synapse::Generation> GenerationOfName(absl::string_view name) {
  for (const synapse::Generation generation : synapse::kGenerations) {
    if (name == synapse::GenerationName(generation)) return generation;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("not a generation of Gaudi: ", name, "; expected gaudi, gaudi2 or gaudi3"));
}

absl::Status CheckSynapse(const CheckOptions& options, CheckListener* listener) {
  std::vector<std::string> programs;
  if (!options.programs.empty()) {
    HPU_ASSIGN_OR_RETURN(programs, ProgramFiles(options.programs));
  }
  HPU_ASSIGN_OR_RETURN(const std::unique_ptr<Runtime> runtime, Runtime::Start(options.library));
  const synapse::Library& library = runtime->library();
  const synapse::Generation generation = options.generation ? *options.generation : DefaultGeneration(library);
  HPU_RETURN_IF_ERROR(synapse::ToDeviceType(library.profile(), generation).status());
  const std::vector<TypedGuid> nodes = UsableGuids(generation);

  CheckedLibrary description;
  description.path = library.path();
  description.version = library.version();
  description.profile = std::string(synapse::ProfileName(library.profile()));
  description.generation = synapse::GenerationName(generation);
  HPU_ASSIGN_OR_RETURN(description.target, CompilerTarget(library, generation));
  description.missing_functions = MissingFunctions(library);
  description.graphs = nodes.size() + programs.size();
  listener->OnLibrary(description);

  Checker checker(library, generation, listener);
  for (size_t i = options.first; i < description.graphs; ++i) {
    if (i < nodes.size()) {
      checker.CheckNode(nodes[i], i);
    } else {
      checker.CheckProgram(programs[i - nodes.size()], i);
    }
  }
  return absl::OkStatus();
}

}  // namespace hpu::gaudi
