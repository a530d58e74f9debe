// Recipe: a compiled graph. Holds copies of everything that it needs.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_RECIPE_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_RECIPE_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "plugin/backends/gaudi/synapse/generation.h"
#include "plugin/backends/gaudi/synapse/types.h"
#include "plugin/testing/synapse_double/kernels/tensor_view.h"
#include "plugin/testing/synapse_double/runtime/handles.h"
#include "plugin/testing/synapse_double/runtime/in_flight.h"

namespace hpu::synapse_double {

inline constexpr int32_t kNoIndex = -1;

// Memory that a tensor lies in.
enum class Place : uint32_t {
  kPersistent,  // a section whose address each launch passes
  kWorkspace,
  kConstant,  // data of the recipe
  kNone,      // shape tensors
};

struct RecipeTensor {
  std::string name;
  synapse::synTensorType kind = synapse::DATA_TENSOR;
  synapse::synDataType type = synapse::syn_type_na;
  Sizes sizes;
  std::vector<uint8_t> permutation;
  Place place = Place::kNone;
  int32_t section = kNoIndex;  // of persistent tensors
  uint64_t offset = 0;         // in the section, in the workspace, or in the constants
  uint64_t bytes = 0;
  bool is_input = false;  // no node writes it
  bool is_external = false;
};

// A persistent section.
struct RecipeSection {
  uint64_t bytes = 0;
  uint64_t group = 0;
  bool is_constant = false;
  std::vector<char> data;  // of const sections
};

struct RecipeNode {
  std::string guid;
  std::string name;
  std::vector<int32_t> inputs;  // indices of tensors; kNoIndex: missing
  std::vector<int32_t> outputs;
  std::vector<char> params;
  bool deterministic = false;
  uint32_t rounding = 0;
  std::vector<int32_t> before;  // nodes that must run before this node
};

struct RecipeData {
  std::string name;
  synapse::Generation generation = synapse::Generation::kGaudi;
  std::vector<RecipeTensor> tensors;
  std::vector<RecipeSection> sections;
  std::vector<RecipeNode> nodes;        // in an order of execution
  std::vector<int32_t> launch_tensors;  // persistent tensors, in the order of their creation
  std::vector<char> constants;
  uint64_t workspace_bytes = 0;
};

// Immutable except for the const sections' buffers. Thread safe. No two recipes share a tensor id, even if both come
// from one file.
class Recipe : public InFlight {
 public:
  static constexpr HandleKind kKind = HandleKind::kRecipe;

  explicit Recipe(RecipeData data);

  const RecipeData& data() const { return data_; }

  // Id of launch tensor `i`.
  uint64_t IdOf(size_t i) const { return first_id_ + i * kIdStep; }
  // Inverse of IdOf; kNoIndex for other ids.
  int32_t LaunchTensorOfId(uint64_t id) const;
  // Index among the launch tensors; kNoIndex for other names.
  int32_t LaunchTensorOfName(const std::string& name) const;
  const RecipeTensor& LaunchTensor(size_t i) const { return data_.tensors[data_.launch_tensors[i]]; }

  // Drops the host buffer of a const section. Otherwise the buffer lives as long as the recipe.
  void ClearSection(size_t section);
  // Null if the buffer was dropped.
  const void* SectionData(size_t section);

 private:
  static constexpr uint64_t kIdStep = 3;

  RecipeData data_;
  const uint64_t first_id_;
  std::mutex mutex_;
  std::vector<bool> is_cleared_;  // by section
};

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_RECIPE_H_
