// Symbolic shapes of tensors inside clusters, computed on the host from shapes outside the clusters.
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
#include "plugin/compat/graph_shapes.h"
#include "plugin/passes/graph/node_maker.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Distinct primes, so that no size is a multiple of another by chance.
class Primes {
 public:
  explicit Primes(int64_t first) : next_(first) {}
  int64_t At(size_t index);

 private:
  int64_t next_;
  std::vector<int64_t> found_;
};

// A host op that needs the shape of a tensor inside a cluster would split the cluster. Most such shapes depend only on
// the shapes of the graph's inputs, for example on the batch size. This class finds the formula of a shape, and adds
// nodes that compute the formula outside the clusters.
//
// TensorFlow's shape inference cannot compute with unknown sizes (tf.tensordot, for example, multiplies sizes). So
// inference runs several times, with different numbers in place of each unknown size. If a size is the same multiple of
// an input size in all runs, this multiple is the formula. If an op rejects inputs with different first dimensions,
// these dimensions are assumed to be the same batch size.
//
// Not thread safe. All nodes that the graph contains when the constructor runs must outlive this object.
class ShapeFormulas {
 public:
  // Whether an unknown size of a stacked TensorList is a size that inference starts from, like an input's. ShapeOf
  // must not be called then, because such a size is known only inside a cluster.
  enum class Stacks { kUnknown, kSources };

  // Later calls may pass only `targets` and their ancestors.
  ShapeFormulas(tensorflow::Graph* graph, const std::vector<tensorflow::Node*>& targets,
                Stacks stacks = Stacks::kUnknown);
  ~ShapeFormulas();

  // kExact: nullopt if the batch size may come from several inputs. kLikely: uses the largest of these inputs' batch
  // sizes. This size is too large if the result has the shape of one input, and the program broadcasts this input in
  // another op.
  enum class Need { kExact, kLikely };

  // A node whose result is the shape of `node`'s result, as an int32 vector in host memory. nullopt if no formula fits,
  // for example for a shape that depends on values. Adds nodes to the graph, on `device`. Equal shapes share nodes.
  absl::StatusOr<std::optional<tensorflow::Node*>> ShapeOf(const tensorflow::Node& node, int output,
                                                           const std::string& device, Need need);

  // The size of one dimension (negative: from the end) of a node's input; -1 if the size may differ between runs. If
  // the input is the handle of a variable, the variable's size.
  int64_t FixedInputSize(const tensorflow::Node& node, int input, int dimension);

  // Whether dimensions of the first results of two nodes have the same size in each run.
  bool HaveEqualSizes(const tensorflow::Node& one, int dimension, const tensorflow::Node& other, int other_dimension);

  // A dimension of an input or result of a node.
  struct Dimension {
    const tensorflow::Node* node;
    bool is_input;
    int index;
    int dimension;
  };
  // Whether two dimensions have the same size in each run, without the assumption about batches.
  bool AreSurelyEqual(const Dimension& one, const Dimension& other);

  // Whether all sizes of a node's result follow from the sizes of tensors outside the clusters.
  bool IsKnown(const tensorflow::Node& node, int output) const;

  // The rank of a node's input, or of the variable behind a handle; -1 if the rank is unknown.
  int InputRank(const tensorflow::Node& node, int input);

 private:
  // Numbers that replace the unknown sizes. kRising: primes in ascending order of the sources. kFalling: primes in
  // descending order, so that the minimum of two sizes is a different source than with kRising. kOnes: ones, which
  // reveal upper limits (x[:, :100]). kTens: a small number, for ops that reject ones, such as windows larger than an
  // image. kLarge: large primes, which reveal limits above 1000. Products of large primes may overflow.
  enum Probe { kRising, kFalling, kOnes, kTens, kLarge, kProbes };
  using Sizes = std::array<int64_t, kProbes>;                                    // -1: unknown
  using Shapes = std::array<tensorflow::shape_inference::ShapeHandle, kProbes>;  // unset: unknown

  // An unknown size of a tensor outside the clusters, from which formulas are computed.
  struct Source {
    tensorflow::Node* node;
    int output;
    int dimension;
    int batch;  // index of the source that represents this batch; its own index unless batches were joined
  };
  // A fixed size `factor` if `sources` is empty; otherwise `factor` times the largest source.
  struct Size {
    int64_t factor;
    std::vector<int> sources;
  };

  void Infer(const std::vector<tensorflow::Node*>& targets);
  // Runs shape inference with the numbers of `probe`. Returns the nodes that shape inference rejects.
  std::vector<tensorflow::Node*> InferWith(Probe probe, const std::vector<tensorflow::Node*>& order);
  void PutSizes(tensorflow::Node* node, Probe probe);
  int SourceAt(tensorflow::Node* node, int output, int dimension);
  int64_t SizeOf(int source, Probe probe);
  // The batch of an input's first dimension; -1 unless the dimension is a multiple of exactly one batch size.
  int BatchOf(const tensorflow::Edge& input);
  // Called for a node that shape inference rejects: treats the first dimensions of its inputs as one batch. Returns
  // whether any batches were joined.
  bool JoinBatches(const tensorflow::Node& node);
  // Null if the probe did not run, or if inference failed for the node.
  tensorflow::shape_inference::InferenceContext* ContextOf(const tensorflow::Node& node, int probe) const;
  Shapes InputShapes(const tensorflow::Node& node, int input) const;
  Shapes OutputShapes(const tensorflow::Node& node, int output) const;
  Sizes SizesOf(const Shapes& shapes, int dimension) const;
  Sizes SizesOf(const Dimension& place) const;
  template <typename Expected>  // callable as int64_t(Probe)
  static bool Agree(const Sizes& sizes, Expected expected);
  static bool IsFixed(const Sizes& sizes);
  static bool AreEqual(const Sizes& one, const Sizes& other);
  // The formula of one dimension of a node's result, from its sizes in all probes; nullopt if no formula fits.
  std::optional<Size> Explain(const tensorflow::Node& node, const Sizes& sizes);
  std::vector<int> SourcesOf(const tensorflow::Node& node, int batch) const;
  absl::StatusOr<tensorflow::Node*> AddSize(const Source& source);
  absl::StatusOr<tensorflow::Node*> AddSize(const Size& size, const NodeMaker& maker);

  tensorflow::Graph* const graph_;
  const Stacks stacks_;
  Primes primes_{1000}, large_primes_{100000};
  // By probe. If all sizes are known, only kRising is set.
  std::array<std::unique_ptr<tensorflow::ShapeRefiner>, kProbes> refiners_;
  std::vector<Source> sources_;
  std::map<std::tuple<const tensorflow::Node*, int, int>, int> places_;  // source indices by node, output, dimension
  std::map<std::string, tensorflow::Node*> made_;                        // added nodes, by formula
};

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_SHAPE_FORMULAS_H_
