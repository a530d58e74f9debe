// XLA's analyses of graphs and functions: compile-time constants, compilability, deadness.
#ifndef HPU_PLUGIN_COMPAT_CLUSTER_ANALYSIS_H_
#define HPU_PLUGIN_COMPAT_CLUSTER_ANALYSIS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace tensorflow {
class DeadnessAnalysis;
class RecursiveCompilabilityChecker;
}  // namespace tensorflow

namespace hpu {

// A function, and the arguments whose values must be known at compile time.
struct FunctionConstants {
  const tensorflow::FunctionBody* body = nullptr;  // owned by the runtime
  std::vector<int> constants;                      // argument indices in ascending order
};
absl::StatusOr<FunctionConstants> FindFunctionConstants(const tensorflow::NameAttrList& function,
                                                        tensorflow::FunctionLibraryRuntime* runtime);

// For each argument of a function's graph: whether the argument's value must be known at compile time. True for the
// handle of a variable if the variable's value must be known. Ignores the edges for which `follows` returns false.
absl::StatusOr<std::vector<bool>> FindConstantArguments(
    const tensorflow::Graph& function, size_t num_arguments, tensorflow::FunctionLibraryRuntime* runtime,
    const std::function<bool(const tensorflow::Edge&)>& follows = nullptr);

// Decides whether tf2xla can compile a node and the functions that the node calls.
class CompilabilityChecker {
 public:
  // Accepts ops on variables in called functions, ops on TensorLists, and slow or inaccurate lowerings. Refuses string
  // constants, collectives and Where.
  explicit CompilabilityChecker(const std::string& compilation_device);
  ~CompilabilityChecker();

  // Why the node cannot be compiled; nullopt if it can. If the reason is a node in a called function, names that node.
  std::optional<std::string> WhyNotCompilable(const tensorflow::Node& node,
                                              tensorflow::FunctionLibraryRuntime* runtime) const;

 private:
  const std::unique_ptr<const tensorflow::RecursiveCompilabilityChecker> checker_;
};

// The conditions under which the nodes of lowered control flow run.
class Deadness {
 public:
  // Nodes without inputs must have an edge from the source, nodes without users an edge to the sink
  // (FixupSourceAndSinkEdges). Costs 20 µs per node. The graph must outlive the result.
  static absl::StatusOr<Deadness> Analyze(const tensorflow::Graph& graph);
  Deadness(Deadness&& other) noexcept;
  Deadness& operator=(Deadness&& other) noexcept;
  ~Deadness();

  // Nodes with equal predicates run under the same condition. Predicates are addresses, which differ between runs.
  absl::StatusOr<uintptr_t> PredicateOf(tensorflow::Node* node) const;

 private:
  explicit Deadness(std::unique_ptr<tensorflow::DeadnessAnalysis> analysis);

  std::unique_ptr<tensorflow::DeadnessAnalysis> analysis_;  // owns the predicates
};

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPAT_CLUSTER_ANALYSIS_H_
