// Replacement of a match by its fused op.
#ifndef HPU_PLUGIN_PASSES_PATTERNS_PATTERN_REWRITE_H_
#define HPU_PLUGIN_PASSES_PATTERNS_PATTERN_REWRITE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/passes/patterns/pattern_match.h"
#include "plugin/passes/reporting/report.h"

namespace hpu::passes {

// Replaces matches in one graph. Not thread safe.
class PatternRewriter {
 public:
  // `graph` and `report` must outlive this object. Node names in the report begin with `prefix`.
  PatternRewriter(tensorflow::Graph* graph, std::string prefix, passes::Report* report)
      : graph_(graph), prefix_(std::move(prefix)), report_(report) {}

  // Replaces a match and reports the replacement. Leaves the graph unchanged and returns false in these cases:
  //   - Other nodes use an inner value of the match.
  //   - The fused op does not support the types or a captured value.
  //   - The fused op would create a cycle.
  //   - The upstream gradient is broadcast (tf.GradientTape.jacobian), so the fused op's result has another shape.
  absl::StatusOr<bool> Replace(const Pattern& pattern, const PatternMatch& match);

 private:
  using Nodes = absl::flat_hash_set<tensorflow::Node*>;

  // A result of the match, and the index of the fused op's result that replaces it.
  struct Moved {
    Output from;
    int to;
  };

  // The nodes that the fused op replaces.
  Nodes OwnNodes(const PatternMatch& match) const;
  bool KeepsUnmatchedUses(const Nodes& own, const std::vector<Moved>& moved) const;
  bool MakesCycle(const Nodes& own, const tensorflow::Node& root, const std::vector<Output>& inputs,
                  const std::vector<tensorflow::Node*>& control_inputs);
  // The shape of result 0 of an op that will be added; unknown if the shapes of its inputs do not determine it.
  tensorflow::PartialTensorShape ShapeOf(const PatternMatch& match, const tensorflow::NodeDef& definition,
                                         const std::vector<Output>& inputs) const;
  // Whether the fused op of a gradient may have the shape of the match's root.
  bool KeepsShape(const PatternMatch& match, const tensorflow::NodeDef& definition,
                  const std::vector<Output>& inputs) const;
  void ComputeLevels();
  int Level(const tensorflow::Node& node) const;
  // The definition of the op `fused`, and its inputs. Recursively adds ops that compute the inputs.
  absl::StatusOr<tensorflow::NodeDef> Define(const Pattern& pattern, const PatternMatch& match,
                                             const OpExpression& fused, std::vector<Output>* inputs);
  absl::StatusOr<Output> InputFor(const Pattern& pattern, const PatternMatch& match, const OpExpression& argument);
  absl::StatusOr<tensorflow::Node*> Add(const tensorflow::NodeDef& definition, const std::vector<Output>& inputs,
                                        const tensorflow::Node& root);
  absl::StatusOr<Output> AddOtherTerms(const PatternMatch& match, tensorflow::Node* fused);
  void MoveEdges(const Nodes& own, const std::vector<Moved>& moved, tensorflow::Node* fused, Output first);
  void Report(const Pattern& pattern, const PatternMatch& match, const Nodes& own);
  void SetLevel(const tensorflow::Node& node);

  tensorflow::Graph* const graph_;
  const std::string prefix_;
  passes::Report* const report_;
  std::map<std::string, int> made_;  // ids of added nodes by op, inputs and attributes; equal nodes are shared
  absl::flat_hash_map<const tensorflow::Node*, tensorflow::PartialTensorShape> added_shapes_;  // of the current match
  std::vector<int> levels_;  // levels by node id, greater than the levels of predecessors; empty: not computed
};

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PATTERNS_PATTERN_REWRITE_H_
