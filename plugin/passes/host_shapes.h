// Shapes of tensors inside clusters, computed on the host from tensors outside.
#ifndef HPU_PLUGIN_PASSES_HOST_SHAPES_H_
#define HPU_PLUGIN_PASSES_HOST_SHAPES_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/passes/pass_context.h"
#include "tensorflow/core/common_runtime/shape_refiner.h"

namespace hpu::passes {

// A host op that needs the shape of a tensor computed inside a cluster would cut the cluster in two. Most such shapes
// follow from shapes of the graph's inputs (its batch size, say): this finds the formula and writes it with nodes that
// stay outside.
//
// TensorFlow's shape inference loses unknown sizes in whatever arithmetic a model does with them (tf.tensordot alone
// multiplies and splits them). So it is asked twice, with two different sizes put in for each unknown one; a size that
// is a multiple of the same input size in both answers is that multiple of it.
//
// Not thread safe; nodes that were there when it was made must stay while it is asked.
class HostShapes {
 public:
  // `targets` are the nodes that it will be asked about.
  HostShapes(PassContext* context, const std::vector<tensorflow::Node*>& targets);
  ~HostShapes();

  // An int32 vector in host memory that holds the shape of a node's result; nothing if it does not follow from the
  // inputs' shapes. Adds nodes to the graph, on `device`; the same shape is computed once.
  absl::StatusOr<std::optional<tensorflow::Node*>> ShapeOf(const tensorflow::Node& node, int output,
                                                           const std::string& device);

  // The size of one dimension (negative: from the end) of a node's input, or of the variable whose handle the input
  // is; -1 if it is not the same in every run.
  int64_t FixedInputSize(const tensorflow::Node& node, int input, int dimension);

  // The rank of the same, -1 if unknown.
  int InputRank(const tensorflow::Node& node, int input);

 private:
  static constexpr int kProbes = 2;

  // A size that the graph does not know.
  struct Source {
    tensorflow::Node* node;
    int output;
    int dimension;
    int64_t probes[kProbes];  // what was put in for it
  };

  void Infer(const std::vector<tensorflow::Node*>& targets);
  tensorflow::shape_inference::ShapeHandle InputShape(const tensorflow::Node& node, int input, int probe);
  void PutSizes(tensorflow::Node* node, int probe);
  const Source& SourceAt(tensorflow::Node* node, int output, int dimension);  // valid until the next call
  const Source* Explain(int64_t first, int64_t second, int64_t* factor) const;
  absl::StatusOr<tensorflow::Node*> AddSize(const Source& source);
  absl::StatusOr<tensorflow::Node*> AddMultiple(const Source& source, int64_t factor, const std::string& device);

  PassContext* const context_;
  std::unique_ptr<tensorflow::ShapeRefiner> refiners_[kProbes];
  std::vector<Source> sources_;
  std::map<std::string, tensorflow::Node*> made_;  // nodes by their formula
};

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_HOST_SHAPES_H_
