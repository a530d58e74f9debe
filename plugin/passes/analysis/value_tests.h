// Graph nodes that test whether an op's values satisfy its rule.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_VALUE_TESTS_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_VALUE_TESTS_H_

#include <cstdint>
#include <map>
#include <optional>

#include "absl/status/statusor.h"
#include "plugin/op_facts/op_facts.h"
#include "plugin/passes/analysis/static_shapes.h"
#include "plugin/passes/graph/node_maker.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// For the nodes of one graph. Not thread safe.
class ValueTests {
 public:
  // `graph` and `shapes`, which are the graph's, must outlive this object.
  ValueTests(tensorflow::Graph* graph, LazyShapes* shapes) : graph_(graph), shapes_(shapes) {}

  // Whether the node's values satisfy the rule; nullopt if the values are known only at run time.
  std::optional<bool> Known(tensorflow::Node* node, const ValueRule& rule);

  // Whether the input that ValueRule::other names has elements, or the rule names none; nullopt if this is known only
  // at run time. Without elements, the rule holds.
  std::optional<bool> OtherHasElements(const tensorflow::Node& node, const ValueRule& rule);

  // Whether the size of the matrices in the node's first input is known.
  bool KnowsSizeOf(const tensorflow::Node& node) { return SizeOf(node).known(); }

  // Adds nodes whose result, a scalar, is whether the node's values satisfy the rule.
  absl::StatusOr<tensorflow::Node*> Make(const tensorflow::Node& node, const ValueRule& rule, const NodeMaker& maker);

 private:
  struct MatrixSize {
    int64_t rows = -1, columns = -1;

    bool known() const { return rows >= 0 && columns >= 0; }
  };

  bool IsBandOf(tensorflow::Node* node, const tensorflow::Tensor& lower, const tensorflow::Tensor& upper);
  // Size of the matrices in the node's first input. Infers shapes at the first call for a node.
  const MatrixSize& SizeOf(const tensorflow::Node& node);
  absl::StatusOr<tensorflow::Node*> MakeForElements(const tensorflow::Node& node, const ValueRule& rule,
                                                    const NodeMaker& maker);
  absl::StatusOr<tensorflow::Node*> AcceptEmpty(tensorflow::OutputTensor other, tensorflow::Node* passes,
                                                const NodeMaker& maker);
  absl::StatusOr<tensorflow::Node*> MakeFactored(const tensorflow::Node& node, const ValueRule& rule,
                                                 const NodeMaker& maker);
  absl::StatusOr<tensorflow::Node*> MakeBand(const tensorflow::Node& node, const ValueRule& rule,
                                             const NodeMaker& maker);
  absl::StatusOr<tensorflow::Node*> MakeOrdered(const tensorflow::Node& node, const ValueRule& rule,
                                                const NodeMaker& maker);
  absl::StatusOr<tensorflow::Node*> SizeNode(const tensorflow::Node& node, tensorflow::DataType type,
                                             const NodeMaker& maker);

  tensorflow::Graph* const graph_;
  LazyShapes* const shapes_;
  std::map<const tensorflow::Node*, MatrixSize> sizes_;
};

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_VALUE_TESTS_H_
