// Names of devices, attributes and ops, and queries about graphs and nodes.
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
inline constexpr char kAssertOp[] = "Assert";
inline constexpr char kClusterAssertOp[] = "HabanaAssert";
inline constexpr char kCheckIndicesOp[] = "HabanaCheckIndices";
inline constexpr char kCheckRangeOp[] = "HabanaCheckRange";
inline constexpr char kCheckValuesOp[] = "HabanaCheckValues";
inline constexpr char kIndicesInRangeOp[] = "HabanaIndicesInRange";
inline constexpr char kInnerIndicesOp[] = "HabanaInnerIndices";
inline constexpr char kInnerValuesOp[] = "HabanaInnerValues";
inline constexpr char kRevertUpdateOp[] = "HabanaRevertUpdate";
inline constexpr char kRandomOrderOp[] = "HabanaRandomOrder";

// TensorFlow's attribute of functions with jit_compile=True, and of their calls (bool).
inline constexpr char kXlaMustCompileAttr[] = "_XlaMustCompile";

// Attributes that passes use to communicate. These attributes have no meaning after the last pass.
inline constexpr char kCandidateAttr[] = "_habana_candidate";   // bool: a cluster may hold the node (marking_pass.h)
inline constexpr char kClusterAttr[] = "_habana_cluster";       // string: the cluster that holds the node
inline constexpr char kStageAttr[] = "_habana_stage";           // int: clusters do not cross stages (collective_pass.h)
inline constexpr char kHostShapeAttr[] = "_habana_host_shape";  // bool: computes a size for a host op
inline constexpr char kUncheckedAttr[] = "_habana_unchecked";   // bool: a cluster would lose the op's errors
inline constexpr char kInRangeAttr[] = "_habana_in_range";      // bool: the op needs no check (inner_check_pass.h)
inline constexpr char kChecksAttr[] = "_habana_checks";  // list(string): checks after the cluster (check_order.h)
inline constexpr char kLateAttr[] = "_habana_late";      // bool: an Assert that runs after clusters
inline constexpr char kMovedFromAttr[] = "_habana_moved_from";  // string: device of the node if no cluster contains it
inline constexpr char kRefusalAttr[] = "_hpu_refusal";  // string: "rule: reason" that excludes the node from the HPU
inline constexpr char kMustCompileAttr[] =
    "_habana_must_compile";  // string: why the node, a call of a jit_compile function, is a cluster by itself
inline constexpr char kJitCallAttr[] = "_habana_jit_call";  // bool: a call of a jit_compile function beside other ops

// Attribute of a ZerosLike that stands for a FakeParam of unknown shape (placeholder_pass.h): that shape. Remains after
// the last pass.
inline constexpr char kPlaceholderAttr[] = "_habana_placeholder";

// Attributes for op records (op_records.h). These attributes remain after the last pass.
inline constexpr char kRecordAttr[] = "_hpu_record";     // int, on every op node: the number of the graph's report
inline constexpr char kUserPinAttr[] = "_hpu_user_pin";  // bool: the program requested another device for the node

// Whether a full or partial device name names an HPU; false for "".
bool IsHpuDevice(const std::string& device);

// Whether a node is assigned to an HPU.
bool IsOnHpu(const tensorflow::Node& node);

// Whether a node stands for a tensor or TensorList of another branch (tensorflow/python/ops/cond_v2.py) whose shape the
// node lacks.
bool IsPlaceholderOfUnknownShape(const tensorflow::Node& node);

// Whether the program requested a device that is not an HPU for the node.
bool IsPinnedToOtherDevice(const tensorflow::Node& node);

// The full name of CPU:0 in the task of a device.
std::string HostOf(const std::string& device);

// The output that feeds input `index` of a node.
tensorflow::OutputTensor InputOf(const tensorflow::Node& node, int index);

// The value of a constant; nullopt for other nodes.
std::optional<tensorflow::Tensor> ConstantOf(const tensorflow::Node& node);

// Whether a tensor is in host memory, regardless of clustering.
bool IsOnHost(const tensorflow::OutputTensor& tensor);

// A node's outgoing edges in order of creation. TensorFlow's own order depends on addresses, so the result of a pass
// would differ between runs.
std::vector<const tensorflow::Edge*> OutEdges(const tensorflow::Node& node);

// Whether the graph may contain HPU nodes. False on machines without an HPU, for functions of other devices and for
// wrappers of eager ops.
bool MayUseHpu(const tensorflow::GraphOptimizationPassOptions& options);

bool AnyOnHpu(const tensorflow::Graph& graph);

// A function's name without TensorFlow's prefix and unique id: "__inference_train_function_1234" becomes
// "train_function", "__backward_f_7" becomes "backward_f". An empty name becomes "session". Characters other than
// letters and digits become _.
std::string GraphName(std::string_view function);

// The name with _ in place of characters other than letters and digits. Names of functions ("__inference_<lambda>_7")
// are not valid names of nodes.
std::string AsNodeName(std::string_view name);

// Whether a function is eager execution's wrapper of a single op ("__wrapped__…").
bool IsEagerWrapper(std::string_view function);

// Whether a graph has Switch, Merge, Enter or similar nodes.
bool HasLoweredControlFlow(const tensorflow::Graph& graph);

// Whether the node calls a function with jit_compile=True.
bool MustCompile(const tensorflow::Node& node, const tensorflow::FunctionLibraryDefinition& library);
bool MustCompile(const tensorflow::NodeDef& node, const tensorflow::FunctionLibraryDefinition& library);

// The library's functions, sorted by name to make the result deterministic.
tensorflow::FunctionDefLibrary SortedLibrary(const tensorflow::FunctionLibraryDefinition& library);

// The XLA compilation device whose kernels the passes look up: XLA_HPU_JIT if registered, else XLA_CPU_JIT.
std::string CompilationDevice();

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_GRAPH_GRAPH_UTIL_H_
