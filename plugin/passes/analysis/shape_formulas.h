// Symbolic shapes of tensors inside clusters, computed on the host from tensors outside.
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

// Distinct primes, so that no size is a multiple of another by chance.
class Primes {
 public:
  explicit Primes(int64_t first) : next_(first) {}
  int64_t At(size_t index);

 private:
  int64_t next_;
  std::vector<int64_t> found_;
};

// A host op that needs the shape of a tensor inside a cluster would split the cluster. Most such shapes follow from the
// shapes of the graph's inputs, for example from the batch size. This class finds the formula and adds nodes outside
// the clusters that compute it.
//
// TensorFlow's shape inference loses unknown sizes in almost any arithmetic on them (tf.tensordot alone multiplies and
// splits them). So inference runs several times, with different sizes in place of each unknown one. If a size is the
// same multiple of an input size in all runs, that multiple is its formula. If an op refuses different first
// dimensions, they count as the same batch.
//
// Not thread safe. Nodes that exist at construction must stay while this is in use.
class ShapeFormulas {
 public:
  // `targets` are the nodes that later calls ask about.
  ShapeFormulas(PassContext* context, const std::vector<tensorflow::Node*>& targets);
  ~ShapeFormulas();

  // kLikely: if a batch may come from several inputs, the largest one is used. That is too large if the program
  // broadcasts some values and computes others from one input alone.
  enum class Need { kExact, kLikely };

  // An int32 vector in host memory that holds the shape of a node's result; nullopt if the shape does not follow from
  // the inputs' shapes. Adds nodes to the graph, on `device`. Equal shapes are computed once.
  absl::StatusOr<std::optional<tensorflow::Node*>> ShapeOf(const tensorflow::Node& node, int output,
                                                           const std::string& device, Need need);

  // The size of one dimension (negative: from the end) of a node's input, or of the variable if the input is its
  // handle. -1 if the size may differ between runs.
  int64_t FixedInputSize(const tensorflow::Node& node, int input, int dimension);

  // The rank of the same tensor; -1 if unknown.
  int InputRank(const tensorflow::Node& node, int input);

 private:
  // Sizes that replace the unknown ones. kRising: ascending primes. kFalling: descending ones, which show the smaller
  // of two sizes where kRising shows the first. kOnes: ones, which show limits (x[:, :100]). kTens: small numbers, for
  // ops that refuse ones, such as windows larger than an image. kLarge: large numbers, for limits beyond a thousand;
  // products of these may overflow.
  enum Probe { kRising, kFalling, kOnes, kTens, kLarge, kProbes };
  using Sizes = std::array<int64_t, kProbes>;                                    // -1: unknown
  using Shapes = std::array<tensorflow::shape_inference::ShapeHandle, kProbes>;  // unset: unknown

  // A size that the graph does not determine.
  struct Source {
    tensorflow::Node* node;
    int output;
    int dimension;
    int batch;  // index of a source that is the same; often its own
  };
  // A fixed size, or a multiple of the largest of some sources.
  struct Size {
    int64_t factor;
    std::vector<int> sources;
  };

  void Infer(const std::vector<tensorflow::Node*>& targets);
  // Returns the nodes that shape inference refuses.
  std::vector<tensorflow::Node*> InferWith(Probe probe, const std::vector<tensorflow::Node*>& order);
  void PutSizes(tensorflow::Node* node, Probe probe);
  int SourceAt(tensorflow::Node* node, int output, int dimension);
  int64_t SizeOf(int source, Probe probe);
  // The source of an input's first dimension; -1 if it has none or several are possible.
  int BatchOf(const tensorflow::Edge& input);
  // Joins the batches of an op that refuses its inputs. Returns whether there were any to join.
  bool JoinBatches(const tensorflow::Node& node);
  // Null if the probe did not run, or has no result for the node.
  tensorflow::shape_inference::InferenceContext* ContextOf(const tensorflow::Node& node, int probe) const;
  Shapes InputShapes(const tensorflow::Node& node, int input) const;
  Shapes OutputShapes(const tensorflow::Node& node, int output) const;
  Sizes SizesOf(const Shapes& shapes, int dimension) const;
  template <typename Expected>  // int64_t of a Probe
  static bool Agree(const Sizes& sizes, Expected expected);
  static bool IsFixed(const Sizes& sizes);
  // The formula of one dimension of a node's result; nullopt if it does not follow from sources.
  std::optional<Size> Explain(const tensorflow::Node& node, const Sizes& sizes);
  std::vector<int> SourcesOf(const tensorflow::Node& node, int batch) const;
  absl::StatusOr<tensorflow::Node*> AddSize(const Source& source);
  absl::StatusOr<tensorflow::Node*> AddSize(const Size& size, const NodeMaker& maker);

  PassContext* const context_;
  Primes primes_{1000}, large_primes_{100000};
  // Only the first is set if all sizes are known.
  std::array<std::unique_ptr<tensorflow::ShapeRefiner>, kProbes> refiners_;
  std::vector<Source> sources_;
  std::map<std::tuple<const tensorflow::Node*, int, int>, int> places_;  // source indices by node, output, dimension
  std::map<std::string, tensorflow::Node*> made_;                        // added nodes, by formula
};

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_SHAPE_FORMULAS_H_
