// GraphPlan: a Synapse graph as plain data, before a library builds it.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_PLAN_GRAPH_PLAN_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_PLAN_GRAPH_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "plugin/backends/gaudi/synapse/types.h"

namespace hpu::gaudi {

// Sizes in elements, fastest dimension first; at least one.
using Sizes = std::vector<uint64_t>;

uint64_t ElementCount(const Sizes& sizes);
// Bytes of one element.
uint64_t BytesOf(synapse::synDataType type);

// Index in GraphPlan::tensors.
using TensorId = int32_t;
inline constexpr TensorId kNoTensor = -1;  // an optional operand that is missing

enum class TensorRole {
  kInternal,
  kArgument,
  kResult,
  kConstant,
};

struct PlanTensor {
  synapse::synDataType type = synapse::syn_type_na;
  Sizes sizes;
  TensorRole role = TensorRole::kInternal;
  int32_t number = -1;  // of the argument or result
  std::string data;     // elements of a constant
  // Of a view: the tensor that holds its elements. A view has more dimensions than the release supports, so no node
  // uses it.
  TensorId view_of = kNoTensor;

  uint64_t bytes() const { return ElementCount(sizes) * BytesOf(type); }
};

struct PlanNode {
  std::string guid;
  std::string name;  // op of the graph, for profiles; may be empty
  std::vector<TensorId> operands;
  std::vector<TensorId> results;
  std::string params;          // bytes of the params struct
  std::vector<int32_t> after;  // nodes that must run before this one, besides the writers of the operands
};

// Nodes follow the writers of their operands. No tensor is empty. Each argument and each result has at most one tensor.
// A result without a tensor is empty, or keeps the value of the argument that it aliases.
struct GraphPlan {
  std::vector<PlanTensor> tensors;
  std::vector<PlanNode> nodes;
  // Whether each node must compute equal results in every run: kernels may not vary the order of their sums.
  bool is_deterministic = false;
};

// Unique name of a tensor in its graph: "argument3", "result0", "t17".
std::string TensorName(const GraphPlan& plan, TensorId tensor);

// The plan as text, one node a line, for dumps and tests:
//   t2 f32{4,2} = add_fwd_f32(argument0 f32{4,2}, argument1 f32{4,1})  # model/add
std::string ToText(const GraphPlan& plan);

// For each node, whether a result of the program needs it.
std::vector<bool> LiveNodes(const GraphPlan& plan);

// Removes nodes whose results nothing uses, except writers of results.
void RemoveDeadNodes(GraphPlan* plan);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_PLAN_GRAPH_PLAN_H_
