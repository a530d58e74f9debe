// Tensors and sections of a graph, and the rules of their properties.
//
// A graph and its tensors, sections and nodes belong to one thread at a time.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_TENSOR_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plugin/backends/gaudi/synapse/types.h"
#include "plugin/testing/synapse_double/graph/verdict.h"
#include "plugin/testing/synapse_double/kernels/tensor_view.h"
#include "plugin/testing/synapse_double/runtime/handles.h"

namespace hpu::synapse_double {

class Graph;

struct Section {
  static constexpr HandleKind kKind = HandleKind::kSection;

  Graph* graph = nullptr;  // owns it
  synapse::synSectionHandle handle = nullptr;
  bool persistent = false;
  bool read_modify_write = false;
  bool constant = false;
  uint64_t group = 0;
  bool locked = false;  // since the first node of one of its tensors

  Verdict SetPersistent(bool value);
  Verdict SetReadModifyWrite(bool value);
  Verdict SetConstant(bool value);
  Verdict SetGroup(uint64_t value);
};

// The bytes of a constant: a copy, or borrowed from the application until the graph is compiled.
struct HostData {
  const void* data = nullptr;
  uint64_t size = 0;
  synapse::synDataType type = synapse::syn_type_na;
  std::vector<char> copy;

  const void* bytes() const { return copy.empty() ? data : copy.data(); }
};

struct Tensor {
  static constexpr HandleKind kKind = HandleKind::kTensor;

  Graph* graph = nullptr;  // owns it
  synapse::synTensor handle = nullptr;
  synapse::synTensorType kind = synapse::DATA_TENSOR;
  std::string name;
  uint32_t rank = 0;
  Sizes sizes;      // maximum sizes, fastest dimension first; empty until they are set
  Sizes min_sizes;  // empty unless they are set
  synapse::synDataType type = synapse::syn_type_na;
  Section* section = nullptr;  // borrowed from the graph
  uint64_t offset = 0;         // in bytes
  std::optional<HostData> host;
  std::vector<uint8_t> permutation;  // dimensions in memory order, fastest first; empty: the order of `sizes`
  int8_t allow_permutation = 0;
  bool external = false;
  bool locked = false;  // since its first node

  bool is_shape() const { return kind == synapse::SHAPE_TENSOR || kind == synapse::INPUT_DESCRIBING_SHAPE_TENSOR; }
  bool is_persistent() const { return section != nullptr && section->persistent; }
  // "x f32{2,3}"
  std::string Describe() const;

  // Setters fail once the tensor has a node (CheckUnlocked).
  Verdict SetSizes(uint32_t dims, const Sizes& values, synapse::synGeometryType which);
  Verdict SetType(synapse::synDataType value);
  Verdict AssignToSection(Section* value, uint64_t byte_offset);
  Verdict SetHostData(const void* data, uint64_t size, synapse::synDataType data_type, bool copy);
  Verdict SetPermutation(std::vector<uint8_t> values);
  Verdict SetAllowPermutation(int8_t allow);
  Verdict SetExternal(bool value);

  // Fails once the tensor has a node.
  Verdict CheckUnlocked(const char* property) const;
  // Checks the properties together, as the first node of a tensor does.
  Verdict CheckProperties() const;

 private:
  Verdict CheckHostData() const;
};

// Bytes of a dense tensor. Not above 2^62 for tensors that pass CheckProperties.
uint64_t BytesOf(const Tensor& tensor);

// Strides in elements of a tensor's memory.
Sizes StridesOf(const Sizes& sizes, const std::vector<uint8_t>& permutation);

// Bytes of an element; 0 for types that the double does not model.
uint64_t ElementBytes(synapse::synDataType type);

// "f32"; "type 4096" for types without a suffix.
std::string TypeText(synapse::synDataType type);

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_TENSOR_H_
