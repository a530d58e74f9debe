#include "plugin/backends/gaudi/compiler/graph_compiler.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"

namespace hpu::gaudi {
namespace {

class GraphBuilder {
 public:
  GraphBuilder(const synapse::Library& library, const GraphPlan& plan, const ProgramTable& table)
      : library_(library), plan_(plan), table_(table), tensors_(plan.tensors.size()) {}

  absl::StatusOr<synapse::OwnedRecipe> Compile(synapse::Generation generation, const std::string& name) {
    HPU_ASSIGN_OR_RETURN(graph_, library_.CreateGraph(generation));
    for (size_t i = 0; i < plan_.nodes.size(); ++i) HPU_RETURN_IF_ERROR(AddNode(i));
    for (size_t i = 0; i < plan_.nodes.size(); ++i) HPU_RETURN_IF_ERROR(AddOrder(i));
    synapse::synRecipeHandle recipe = nullptr;
    HPU_RETURN_IF_ERROR(
        HPU_SYNAPSE_CALL(functions(), synGraphCompile, (&recipe, graph_.get(), name.c_str(), nullptr), "name=", name));
    return synapse::OwnedRecipe(&functions(), recipe);
  }

 private:
  const synapse::Functions& functions() const { return library_.functions(); }

  absl::Status AddTensor(TensorId id) {
    const PlanTensor& tensor = plan_.tensors[id];
    const std::string name = TensorName(plan_, id);
    synapse::synTensor handle = nullptr;
    HPU_RETURN_IF_ERROR(HPU_SYNAPSE_CALL(functions(), synTensorHandleCreate,
                                         (&handle, graph_.get(), synapse::DATA_TENSOR, name.c_str()), "name=", name));
    HPU_RETURN_IF_ERROR(library_.SetGeometry(handle, name, tensor.sizes));
    HPU_RETURN_IF_ERROR(library_.SetElementType(handle, name, tensor.type));
    if (tensor.role == TensorRole::kConstant) {
      HPU_RETURN_IF_ERROR(HPU_SYNAPSE_CALL(
          functions(), synTensorSetHostPtr,
          (handle, const_cast<char*>(tensor.data.data()), tensor.data.size(), tensor.type, /*copy=*/true),
          "tensor=", name));
    }
    if (tensor.role == TensorRole::kArgument || tensor.role == TensorRole::kResult) {
      HPU_ASSIGN_OR_RETURN(const synapse::synSectionHandle section, SectionOf(tensor));
      HPU_RETURN_IF_ERROR(
          HPU_SYNAPSE_CALL(functions(), synTensorAssignToSection, (handle, section, /*offset=*/0), "tensor=", name));
    }
    tensors_[id] = handle;
    return absl::OkStatus();
  }

  // The section of an argument or result. A result that aliases an argument has the argument's section.
  absl::StatusOr<synapse::synSectionHandle> SectionOf(const PlanTensor& tensor) {
    const bool is_argument = tensor.role == TensorRole::kArgument;
    const int32_t argument = is_argument ? tensor.number : table_.results[tensor.number].aliased_argument;
    // Results come after the arguments.
    const size_t number = argument >= 0 ? argument : table_.arguments.size() + tensor.number;
    if (sections_.size() <= number) sections_.resize(number + 1);
    synapse::synSectionHandle& section = sections_[number];
    if (section != nullptr) return section;
    HPU_RETURN_IF_ERROR(HPU_SYNAPSE_CALL(functions(), synSectionCreate, (&section, /*descriptor=*/0, graph_.get())));
    HPU_RETURN_IF_ERROR(HPU_SYNAPSE_CALL(functions(), synSectionSetPersistent, (section, true)));
    return section;
  }

  absl::StatusOr<std::vector<synapse::synTensor>> Handles(const std::vector<TensorId>& ids) {
    std::vector<synapse::synTensor> handles;
    for (const TensorId id : ids) {
      if (id != kNoTensor && tensors_[id] == nullptr) HPU_RETURN_IF_ERROR(AddTensor(id));
      handles.push_back(id == kNoTensor ? nullptr : tensors_[id]);
    }
    return handles;
  }

  absl::Status AddNode(size_t index) {
    const PlanNode& node = plan_.nodes[index];
    HPU_ASSIGN_OR_RETURN(const std::vector<synapse::synTensor> inputs, Handles(node.operands));
    HPU_ASSIGN_OR_RETURN(const std::vector<synapse::synTensor> outputs, Handles(node.results));
    // Nodes of one op have the same op name, but each node needs a unique name.
    const std::string name = absl::StrCat(node.name.empty() ? node.guid : node.name, "_n", index);
    synapse::synNodeId id = 0;
    HPU_RETURN_IF_ERROR(HPU_SYNAPSE_CALL(
        functions(), synNodeCreateWithId,
        (graph_.get(), inputs.data(), outputs.data(), static_cast<uint32_t>(inputs.size()),
         static_cast<uint32_t>(outputs.size()), node.params.empty() ? nullptr : node.params.data(),
         static_cast<unsigned>(node.params.size()), node.guid.c_str(), name.c_str(), &id, nullptr, nullptr),
        "guid=", node.guid, ", name=", name));
    nodes_.push_back(id);
    return plan_.is_deterministic ? SetDeterministic(id, name) : absl::OkStatus();
  }

  // In release 1.5, which lacks the attribute, the lowerings avoid nodes that sum in any order.
  absl::Status SetDeterministic(synapse::synNodeId node, const std::string& name) {
    if (library_.profile() == synapse::Profile::k1_5) return absl::OkStatus();
    return HPU_SYNAPSE_CALL(library_.functions_1_18(), synNodeSetDeterministic,
                            (graph_.get(), node, /*deterministic=*/true), "name=", name);
  }

  absl::Status AddOrder(size_t index) {
    const PlanNode& node = plan_.nodes[index];
    if (node.after.empty()) return absl::OkStatus();
    std::vector<synapse::synNodeId> blocking;
    for (const int32_t earlier : node.after) blocking.push_back(nodes_[earlier]);
    return HPU_SYNAPSE_CALL(
        functions(), synNodeDependencySet,
        (graph_.get(), blocking.data(), &nodes_[index], static_cast<uint32_t>(blocking.size()), /*blocked_count=*/1),
        "node=", node.guid);
  }

  const synapse::Library& library_;
  const GraphPlan& plan_;
  const ProgramTable& table_;
  synapse::OwnedGraph graph_;
  std::vector<synapse::synTensor> tensors_;          // by TensorId; null until a node needs the tensor
  std::vector<synapse::synSectionHandle> sections_;  // by argument, then by result; null until needed
  std::vector<synapse::synNodeId> nodes_;
};

}  // namespace

absl::StatusOr<synapse::OwnedRecipe> CompileGraph(const synapse::Library& library, synapse::Generation generation,
                                                  const std::string& name, const GraphPlan& plan,
                                                  const ProgramTable& table) {
  return GraphBuilder(library, plan, table).Compile(generation, name);
}

}  // namespace hpu::gaudi
