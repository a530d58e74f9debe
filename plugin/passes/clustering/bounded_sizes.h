// Tensors inside clusters whose sizes depend on values, up to a bound that is known from shapes.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_BOUNDED_SIZES_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_BOUNDED_SIZES_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugin/passes/analysis/shape_formulas.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Follows the sizes of bounded results (ResultSize::kBounded in op_facts.h) through a graph. Compiled code computes
// with the bound, and its results have static shapes. So each tensor whose size depends on such a result must stay in
// its cluster, and the ops that read it must be able to compute with the bound.
//
// Vectors `clusters` are indexed by node id and contain cluster numbers, negative for none. Thread safe.
class BoundedSizes {
 public:
  // `graph` must outlive this object. Nodes added later have unknown sizes. Infers shapes if an op in the graph has a
  // bounded result.
  explicit BoundedSizes(tensorflow::Graph* graph);

  // Nodes in clusters that must not be there, and the reasons.
  std::vector<std::pair<tensorflow::Node*, std::string>> Refused(const std::vector<int>& clusters) const;

  // Pairs of node ids that must stay in one cluster. If a cut separates a pair, Refused returns nodes of the cluster.
  std::vector<std::pair<int, int>> Ties(const std::vector<int>& clusters) const;

 private:
  // Calls visit(edge) for each edge downstream of `source`, in its cluster or out of it, whose tensor has a size that
  // may depend on the result of `source`. Stops if visit returns false.
  template <typename Visit>
  void Follow(const tensorflow::Node& source, const std::vector<int>& clusters, Visit visit) const;
  // Whether `reader` reads a tensor from outside its cluster whose size may depend on values.
  bool ReadsOtherSizes(const tensorflow::Node& reader, const std::vector<int>& clusters) const;
  std::optional<std::string> WhyRefused(const tensorflow::Node& source, const std::vector<int>& clusters) const;

  std::vector<tensorflow::Node*> sources_;
  std::optional<ShapeFormulas> shapes_;  // of the nodes downstream of `sources_`; nullopt if there are none
};

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_BOUNDED_SIZES_H_
