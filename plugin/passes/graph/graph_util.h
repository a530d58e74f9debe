// Device, attribute and op names, and small queries about graphs and nodes.
#ifndef HPU_PLUGIN_PASSES_GRAPH_GRAPH_UTIL_H_
#define HPU_PLUGIN_PASSES_GRAPH_GRAPH_UTIL_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/graph/node_builder.h"

namespace hpu::passes {

inline constexpr char kDeviceType[] = "HPU";
inline constexpr char kClusterPrefix[] = "habana_cluster_";
inline constexpr char kLaunchOp[] = "HabanaLaunch";
inline constexpr char kPhiloxStateOp[] = "HabanaPhiloxState";
inline constexpr char kCheckIndicesOp[] = "HabanaCheckIndices";
inline constexpr char kCheckRangeOp[] = "HabanaCheckRange";
inline constexpr char kCheckValuesOp[] = "HabanaCheckValues";
inline constexpr char kRandomOrderOp[] = "HabanaRandomOrder";

// Attributes that passes use to communicate. The last pass leaves none of them.
inline constexpr char kCandidateAttr[] = "_habana_candidate";   // bool: marking found that the node may be in a cluster
inline constexpr char kClusterAttr[] = "_habana_cluster";       // string: the cluster that holds the node
inline constexpr char kStageAttr[] = "_habana_stage";           // int: clusters do not cross stages (collective_pass.h)
inline constexpr char kHostShapeAttr[] = "_habana_host_shape";  // bool: the node stays outside, for host ops
inline constexpr char kUncheckedAttr[] = "_habana_unchecked";   // bool: its errors would be lost in a cluster
inline constexpr char kInRangeAttr[] = "_habana_in_range";      // bool: its indices need no check (loop_index_pass.h)
inline constexpr char kMovedFromAttr[] = "_habana_moved_from";  // string: where the node goes if no cluster takes it
inline constexpr char kRefusalAttr[] = "_hpu_refusal";  // string: "rule: reason" that keeps the node off the HPU
inline constexpr char kMustCompileAttr[] =
    "_habana_must_compile";  // bool: the node is a jit_compile function, a cluster by itself

// Attributes of graphs whose ops are recorded (op_records.h). These remain after the last pass.
inline constexpr char kRecordAttr[] = "_hpu_record";     // int, on every node: the number of the graph's report
inline constexpr char kUserPinAttr[] = "_hpu_user_pin";  // bool: the program itself asked for another device

// Whether a full or partial device name names an HPU; false for "".
bool IsHpuDevice(const std::string& device);

// Whether a node is assigned to an HPU.
bool IsOnHpu(const tensorflow::Node& node);

// Whether the program asked for a device of another kind for a node.
bool IsPinnedElsewhere(const tensorflow::Node& node);

// The name of the CPU beside an HPU: the first one of the same task.
std::string HostOf(const std::string& device);

// The output that feeds input `index` of a node.
tensorflow::OutputTensor InputOf(const tensorflow::Node& node, int index);

// The value of a constant; nothing for other nodes.
std::optional<tensorflow::Tensor> ConstantOf(const tensorflow::Node& node);

// Whether a tensor is in host memory, no matter which clusters are made.
bool IsOnHost(const tensorflow::OutputTensor& tensor);

// A node's outgoing edges in order of creation. TensorFlow's edge sets are ordered by address, so passes that use them
// directly would produce a different graph in each run.
std::vector<const tensorflow::Edge*> OutEdges(const tensorflow::Node& node);

// Whether the graph may contain HPU nodes. False on machines without an HPU, for functions of other devices and for
// wrappers of eager ops.
bool MayUseHpu(const tensorflow::GraphOptimizationPassOptions& options);

// Whether any node of the graph is on an HPU.
bool AnyOnHpu(const tensorflow::Graph& graph);

// A function's name without TensorFlow's decoration: "__inference_train_function_1234" becomes "train_function",
// "__backward_f_7" becomes "backward_f". An empty name becomes "session". Only letters, digits and _ remain.
std::string GraphName(std::string_view function);

// Whether a function is a small wrapper that eager execution puts around one op ("__wrapped__…").
bool IsEagerWrapper(std::string_view function);

// Whether a graph has Switch, Merge, Enter or similar nodes.
bool HasLoweredControlFlow(const tensorflow::Graph& graph);

// Whether TensorFlow must compile the called function as a whole (jit_compile=True).
bool MustCompile(const tensorflow::Node& node, const tensorflow::FunctionLibraryDefinition& library);

// The library's functions, sorted by name because the library has no order.
tensorflow::FunctionDefLibrary SortedLibrary(const tensorflow::FunctionLibraryDefinition& library);

// The device for compilation that passes query: XLA_HPU_JIT if it is registered, else that of XLA:CPU.
std::string CompilationDevice();

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_GRAPH_GRAPH_UTIL_H_
