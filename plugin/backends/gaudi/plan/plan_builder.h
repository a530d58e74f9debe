// PlanBuilder: adds tensors and nodes to a GraphPlan, by the rules of the guid table.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_PLAN_PLAN_BUILDER_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_PLAN_PLAN_BUILDER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/gaudi/guids/guid_table.h"
#include "plugin/backends/gaudi/plan/graph_plan.h"
#include "plugin/backends/gaudi/synapse/generation.h"
#include "plugin/backends/gaudi/synapse/profile_enum.h"

namespace hpu::gaudi {

// Generation and ABI profile that a plan is made for.
struct PlanTarget {
  synapse::Generation generation = synapse::Generation::kGaudi2;
  synapse::Profile profile = synapse::Profile::k1_18;
};

struct TensorType {
  synapse::synDataType type = synapse::syn_type_na;
  Sizes sizes;
};

// 64-bit integers as i32 tensors of their low and high bits.
struct Halves {
  TensorId low = kNoTensor;
  TensorId high = kNoTensor;
};

// Bytes of a params struct.
template <typename Params>
std::string ParamsBytes(const Params& params) {
  static_assert(std::is_trivially_copyable_v<Params>, "params are plain structs");
  return std::string(reinterpret_cast<const char*>(&params), sizeof(params));
}

// Nodes are pure, so an equal node is added once: AddNode then returns the results of the first one. Not thread safe.
class PlanBuilder {
 public:
  explicit PlanBuilder(const PlanTarget& target) : target_(target) {}

  const PlanTarget& target() const { return target_; }
  synapse::Generation generation() const { return target_.generation; }
  synapse::Profile profile() const { return target_.profile; }
  const GraphPlan& plan() const { return plan_; }
  GraphPlan* mutable_plan() { return &plan_; }
  const PlanTensor& tensor(TensorId id) const { return plan_.tensors[id]; }
  // By value, because new tensors move the plan's tensors.
  Sizes sizes(TensorId id) const { return plan_.tensors[id].sizes; }
  synapse::synDataType type(TensorId id) const { return plan_.tensors[id].type; }
  TensorType tensor_type(TensorId id) const { return {type(id), sizes(id)}; }

  // Name of the nodes that are added from now on.
  void set_node_name(std::string name) { node_name_ = std::move(name); }

  // Arguments and constants with more dimensions than the release supports are views.
  TensorId AddArgument(int32_t number, TensorType type);
  // `data`: the elements, fastest dimension first. Constants larger than a graph allows become the concatenation of
  // smaller ones.
  absl::StatusOr<TensorId> AddConstant(TensorType type, std::string data);

  // `guid`: name with its type suffix. `results`: types of the results; a type without sizes is an optional result that
  // the node lacks. Unimplemented if the guid is not usable (UsableGuid), or if the guid or the profile lacks a rank or
  // params of this size. The caller must follow all other rules, such as shapes.
  absl::StatusOr<std::vector<TensorId>> AddNode(absl::string_view guid, std::vector<TensorId> operands,
                                                const std::vector<TensorType>& results, std::string params = "");
  // A node with one result.
  absl::StatusOr<TensorId> Add(absl::string_view guid, std::vector<TensorId> operands, const TensorType& result,
                               std::string params = "");
  // Like Add, for a guid with a type suffix: "add_fwd" and syn_type_bf16 is "add_fwd_bf16".
  absl::StatusOr<TensorId> AddTyped(absl::string_view stem, synapse::synDataType suffix, std::vector<TensorId> operands,
                                    const TensorType& result, std::string params = "");
  // Whether the guid with this type suffix is usable (UsableGuid).
  bool Has(absl::string_view stem, synapse::synDataType suffix) const;

  // A view of `x` with more dimensions than the release supports. `x` must not be a view. Nodes do not accept views:
  // the functions of nodes.h reshape views to fewer dimensions.
  TensorId AddView(TensorId x, Sizes sizes);
  // The tensor that holds a view's elements; `id` itself if it is not a view.
  TensorId Storage(TensorId id) const { return tensor(id).view_of == kNoTensor ? id : tensor(id).view_of; }

  // Records the halves of a 64-bit tensor (wide_integers.h), so that its users need not split the tensor. Each size of
  // a half is the tensor's size or 1.
  void SetHalves(TensorId wide, const Halves& halves) { halves_[wide] = halves; }
  std::optional<Halves> FindHalves(TensorId wide) const {
    const auto found = halves_.find(wide);
    return found == halves_.end() ? std::nullopt : std::optional<Halves>(found->second);
  }

  // A copy in new memory, even if an equal copy exists.
  absl::StatusOr<TensorId> AddCopy(TensorId x);

  // Makes `tensor` the result `number`. `tensor` must be internal and not a view.
  void MakeResult(TensorId tensor, int32_t number);

  // Whether an array needs a view.
  bool HasTooManyDimensions(const Sizes& sizes) const;

 private:
  TensorId AddTensor(TensorType type);
  // Sizes of the maximum rank, with the outermost dimensions merged into one.
  Sizes MergedSizes(const Sizes& sizes) const;
  absl::Status CheckNode(absl::string_view guid, const std::vector<TensorId>& operands,
                         const std::vector<TensorType>& results, size_t params_bytes) const;
  const PlanNode& Append(absl::string_view guid, std::vector<TensorId> operands, const std::vector<TensorType>& results,
                         std::string params);

  const PlanTarget target_;
  GraphPlan plan_;
  std::string node_name_;
  absl::flat_hash_map<std::string, int32_t> nodes_;  // by guid, operands, params and result types
  absl::flat_hash_map<TensorId, Halves> halves_;
  absl::flat_hash_map<std::string, TensorId> constants_;  // by type and data
};

// "add_fwd_f32"
std::string GuidOf(absl::string_view stem, synapse::synDataType suffix);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_PLAN_PLAN_BUILDER_H_
