// Nodes that keep the values of variables unless a boolean is true.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_VARIABLE_GUARDS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_VARIABLE_GUARDS_H_

#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/passes/graph/node_maker.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Guards the updates of one computation: a cluster, or the function of a loop or branch. Updates of one variable must
// be passed in their order.
class VariableGuards {
 public:
  // `added` is called for each new node. `graph` must outlive this object.
  VariableGuards(tensorflow::Graph* graph, std::function<void(tensorflow::Node*)> added)
      : graph_(graph), added_(std::move(added)) {}

  // Undoes an update unless `passes`, the only result of a node, is true. A scatter gets indices that its lowering
  // drops. After other updates, a HabanaRevertUpdate selects the old value.
  absl::Status Guard(tensorflow::Node* update, tensorflow::Node* passes);

  // Records an update that stays unchanged. `guarded`: something else undoes it.
  void Skip(tensorflow::Node* update, bool guarded);

 private:
  using Handle = std::pair<const tensorflow::Node*, int>;  // the tensor that holds a variable's handle

  // The last node that updates a variable, so far.
  struct Update {
    tensorflow::Node* node = nullptr;
    bool all_guarded = true;  // this and earlier updates are guarded
  };

  static Handle HandleOf(const tensorflow::Node& node, int input);
  absl::Status GuardIndices(tensorflow::Node* update, tensorflow::Node* passes);
  absl::Status GuardVariables(tensorflow::Node* update, tensorflow::Node* passes);
  absl::StatusOr<tensorflow::Node*> Revert(tensorflow::Node* update, int input, tensorflow::Node* passes);
  std::optional<tensorflow::DataType> TypeOf(const tensorflow::Node& update, const Handle& handle) const;
  NodeMaker Maker(const tensorflow::Node& node) const;
  absl::StatusOr<tensorflow::Node*> Added(absl::StatusOr<tensorflow::Node*> node) const {
    if (node.ok()) added_(*node);
    return node;
  }

  tensorflow::Graph* const graph_;
  const std::function<void(tensorflow::Node*)> added_;
  std::map<Handle, Update> updates_;
};

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_VARIABLE_GUARDS_H_
