// Shapes of tensors inside clusters, computed on the host from tensors outside.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_SHAPE_FORMULAS_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_SHAPE_FORMULAS_H_

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/passes/graph/node_maker.h"
#include "plugin/passes/reporting/pass_context.h"
#include "tensorflow/core/common_runtime/shape_refiner.h"

namespace hpu::passes {

// Prime numbers, so that no other size is a multiple by chance.
class Primes {
 public:
  explicit Primes(int64_t first) : next_(first) {}
  int64_t At(size_t index);

 private:
  int64_t next_;
  std::vector<int64_t> found_;
};

// A host op that needs the shape of a tensor computed inside a cluster would cut the cluster in two. Most such shapes
// follow from shapes of the graph's inputs (its batch size, say): this finds the formula and writes it with nodes that
// stay outside.
//
// TensorFlow's shape inference loses unknown sizes in whatever arithmetic a model does with them (tf.tensordot alone
// multiplies and splits them). So it is asked several times, with different sizes put in for each unknown one; a size
// that is a multiple of the same input size in all answers is that multiple of it. First dimensions that meet in an op
// which refuses different ones are taken for one batch.
//
// Not thread safe; nodes that were there when it was made must stay while it is asked.
class ShapeFormulas {
 public:
  // `targets` are the nodes that it will be asked about.
  ShapeFormulas(PassContext* context, const std::vector<tensorflow::Node*>& targets);
  ~ShapeFormulas();

  // kLikely: of one batch out of several inputs' the largest, which is too large where a program has both broadcasts
  // and what comes from one input alone.
  enum class Need { kExact, kLikely };

  // An int32 vector in host memory that holds the shape of a node's result; nothing if it does not follow from the
  // inputs' shapes. Adds nodes to the graph, on `device`; the same shape is computed once.
  absl::StatusOr<std::optional<tensorflow::Node*>> ShapeOf(const tensorflow::Node& node, int output,
                                                           const std::string& device, Need need);

  // The size of one dimension (negative: from the end) of a node's input, or of the variable whose handle the input
  // is; -1 if it is not the same in every run.
  int64_t FixedInputSize(const tensorflow::Node& node, int input, int dimension);

  // The rank of the same, -1 if unknown.
  int InputRank(const tensorflow::Node& node, int input);

 private:
  // What is put in for unknown sizes: rising primes; falling ones, which tell the smaller of two sizes from the first;
  // ones, which show limits (x[:, :100]), or, where inference refuses those, as for windows larger than an image, small
  // numbers; and large ones, for limits beyond a thousand, but with which products may overflow.
  enum Probe { kRising, kFalling, kOnes, kTens, kLarge, kProbes };
  using Sizes = std::array<int64_t, kProbes>;                                    // -1: unknown
  using Shapes = std::array<tensorflow::shape_inference::ShapeHandle, kProbes>;  // unset: unknown

  // A size that the graph does not know.
  struct Source {
    tensorflow::Node* node;
    int output;
    int dimension;
    int batch;  // index of a source that is the same; often its own
  };
  // A fixed size, or a multiple of the greatest of some sources.
  struct Size {
    int64_t factor;
    std::vector<int> sources;
  };

  void Infer(const std::vector<tensorflow::Node*>& targets);
  // Gives the nodes that shape inference refuses.
  std::vector<tensorflow::Node*> InferWith(Probe probe, const std::vector<tensorflow::Node*>& order);
  void PutSizes(tensorflow::Node* node, Probe probe);
  int SourceAt(tensorflow::Node* node, int output, int dimension);
  int64_t SizeOf(int source, Probe probe);
  // The source of an input's first dimension; -1 if it is none or may be several.
  int BatchOf(const tensorflow::Edge& input);
  // Of the inputs of an op that refuses them; whether there were any to join.
  bool JoinBatches(const tensorflow::Node& node);
  // Null where a probe was not asked, or knows nothing of the node.
  tensorflow::shape_inference::InferenceContext* ContextOf(const tensorflow::Node& node, int probe) const;
  Shapes InputShapes(const tensorflow::Node& node, int input) const;
  Shapes OutputShapes(const tensorflow::Node& node, int output) const;
  Sizes SizesOf(const Shapes& shapes, int dimension) const;
  template <typename Expected>  // int64_t of a Probe
  static bool Agree(const Sizes& sizes, Expected expected);
  static bool IsFixed(const Sizes& sizes);
  // Of one dimension of a node's result; unset if it does not follow from sources.
  std::optional<Size> Explain(const tensorflow::Node& node, const Sizes& sizes);
  std::vector<int> SourcesOf(const tensorflow::Node& node, int batch) const;
  absl::StatusOr<tensorflow::Node*> AddSize(const Source& source);
  absl::StatusOr<tensorflow::Node*> AddSize(const Size& size, const NodeMaker& maker);

  PassContext* const context_;
  Primes primes_{1000}, large_primes_{100000};
  // Only the first where all sizes are known.
  std::array<std::unique_ptr<tensorflow::ShapeRefiner>, kProbes> refiners_;
  std::vector<Source> sources_;
  std::map<std::tuple<const tensorflow::Node*, int, int>, int> places_;  // of sources: node, output and dimension
  std::map<std::string, tensorflow::Node*> made_;                        // nodes by their formula
};

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_SHAPE_FORMULAS_H_
