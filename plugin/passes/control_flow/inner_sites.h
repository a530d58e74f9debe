// Ops in loops and branches whose indices or values need a test.
#ifndef HPU_PLUGIN_PASSES_CONTROL_FLOW_INNER_SITES_H_
#define HPU_PLUGIN_PASSES_CONTROL_FLOW_INNER_SITES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/checks/value_rule.h"
#include "plugin/passes/analysis/node_index_rule.h"
#include "plugin/passes/analysis/static_shapes.h"
#include "plugin/passes/analysis/value_tests.h"
#include "plugin/passes/graph/node_maker.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/graph/node_builder.h"

namespace hpu::passes {

// Indices of an op in a loop's body or in a branch.
struct IndexSite {
  tensorflow::Node* node;
  tensorflow::OutputTensor indices;
  tensorflow::TensorShape shape;  // of the indices
  IndexRule rule;
  tensorflow::OutputTensor bounding;  // the tensor that is indexed, its shape, or a handle or TensorList
  std::vector<int> sizes;             // the sizes that bound the indices, if they are known
  int rank = 0;                       // number of these sizes
};

// A test of an op's values in a loop's body or in a branch.
struct ValueSite {
  tensorflow::Node* node;
  const ValueRule* rule;  // null for a HabanaInnerValues, whose input is the test
  int code;               // of the error
  std::string error;
};

// The tests of one function.
struct Sites {
  std::vector<IndexSite> indices;
  std::vector<ValueSite> values;

  bool empty() const { return indices.empty() && values.empty(); }
};

// Whether a function, or a function that it calls, may have sites. Infers no shapes.
bool MayHaveSites(const tensorflow::NameAttrList& function, const tensorflow::FunctionLibraryDefinition& library);

// The sites in the graph of a function. `shapes` and `tests`: of the graph.
Sites FindSites(const tensorflow::Graph& function, LazyShapes* shapes, ValueTests* tests);

// Adds nodes for the sizes that bound a site's indices to the site's function.
absl::StatusOr<tensorflow::NodeBuilder::NodeOut> SizesOf(const IndexSite& site, const NodeMaker& maker);

// Adds a node for whether a site's indices are in range. `sizes`: of SizesOf.
absl::StatusOr<tensorflow::Node*> TestOf(const IndexSite& site, tensorflow::NodeBuilder::NodeOut sizes,
                                         const NodeMaker& maker);

// Adds nodes for whether a site's values pass.
absl::StatusOr<tensorflow::Node*> TestOf(const ValueSite& site, const NodeMaker& maker, ValueTests* tests);

// Sizes as a vector.
tensorflow::Tensor SizesTensor(const std::vector<int>& sizes);

// Indices and sizes that pass a check, for sites that did not run.
tensorflow::Tensor UnusedIndices(const IndexSite& site);
tensorflow::Tensor UnusedSizes(const IndexSite& site);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CONTROL_FLOW_INNER_SITES_H_
