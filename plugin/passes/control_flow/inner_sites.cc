#include "plugin/passes/control_flow/inner_sites.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "plugin/base/status_macros.h"
#include "plugin/checks/whole_number.h"
#include "plugin/op_facts/op_facts.h"
#include "plugin/passes/clustering/segment_sizes.h"
#include "plugin/passes/functions/reachable_nodes.h"
#include "plugin/passes/graph/graph_util.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {
namespace {

using tensorflow::DataType;
using tensorflow::Graph;
using tensorflow::Node;
using tensorflow::NodeBuilder;
using tensorflow::NodeDef;
using tensorflow::OutputTensor;
using tensorflow::PartialTensorShape;
using tensorflow::Tensor;
using tensorflow::TensorShape;

bool MayBeSite(const NodeDef& node) {
  if (node.attr().contains(kInRangeAttr)) return false;
  if (node.op() == "StridedSlice") {
    const auto mask = node.attr().find("shrink_axis_mask");
    return mask != node.attr().end() && mask->second.i() != 0;
  }
  return node.op() == "Slice" || node.op() == "TensorListGetItem" || node.op() == "TensorListSetItem" ||
         IndexedOpOf(node.op()) != nullptr || checks::FindValueRule(node.op(), tensorflow::AttrSlice(node)) != nullptr;
}

std::vector<ValueSite> FindValueSites(const Graph& function, ValueTests* tests) {
  std::vector<ValueSite> sites;
  for (Node* node : function.op_nodes()) {
    if (node->attrs().Find(kInRangeAttr) != nullptr) continue;
    if (node->type_string() == kInnerValuesOp) {
      ValueSite site{node, nullptr, 0, ""};
      tensorflow::TryGetNodeAttr(node->attrs(), "code", &site.code);
      tensorflow::TryGetNodeAttr(node->attrs(), "error", &site.error);
      sites.push_back(std::move(site));
      continue;
    }
    const ValueRule* const rule = checks::FindValueRule(node->type_string(), node->attrs());
    if (rule == nullptr || tests->Known(node, *rule) == true || tests->OtherHasElements(*node, *rule) == false)
      continue;
    sites.push_back({node, rule, static_cast<int>(rule->code), rule->error});
  }
  return sites;
}

int64_t ElementOf(const Tensor& tensor, int64_t i) {
  return tensor.dtype() == tensorflow::DT_INT64 ? tensor.flat<int64_t>()(i) : tensor.flat<int32_t>()(i);
}

// Finds the sites of one function.
// The sizes of a fully defined shape.
std::vector<int> Integers(const PartialTensorShape& shape) {
  std::vector<int> sizes;
  for (const int64_t size : shape.dim_sizes()) sizes.push_back(static_cast<int>(size));
  return sizes;
}

class SiteFinder {
 public:
  SiteFinder(const Graph& body, LazyShapes* shapes) : body_(body), shapes_(*shapes) {}

  std::vector<IndexSite> Run() {
    for (Node* node : body_.op_nodes()) {
      if (node->attrs().Find(kInRangeAttr) != nullptr) continue;
      if (const IndexedOp* op = IndexedOpOf(node->type_string())) {
        AddIndexed(node, *op);
      } else if (node->type_string() == "StridedSlice") {
        AddElements(node);
      } else if (node->type_string() == "Slice") {
        AddSlice(node);
      } else if (node->type_string() == "TensorListGetItem") {
        AddListElement(node, IndexKind::kListElement);
      } else if (node->type_string() == "TensorListSetItem") {
        AddListElement(node, IndexKind::kWrittenElement);
      }
    }
    return std::move(sites_);
  }

 private:
  // The static shape of an input; nullopt if it is unknown.
  std::optional<TensorShape> ShapeOf(const OutputTensor& tensor) const {
    TensorShape shape;
    if (!shapes_.Get().Shape(*tensor.node, tensor.index).AsTensorShape(&shape)) return std::nullopt;
    return shape;
  }

  bool FitsInt16(const Node& node, const IndexRule& rule, const OutputTensor& bounding,
                 const std::vector<int>& sizes) const {
    if (!sizes.empty()) {
      return checks::FitsIndexType(rule, tensorflow::DT_INT16, std::vector<int64_t>(sizes.begin(), sizes.end()));
    }
    const IndexedOp* const op = IndexedOpOf(node.type_string());
    const std::optional<TensorShape> shape = ShapeOf(bounding);
    return op != nullptr && !op->sizes && shape.has_value() &&
           checks::FitsIndexType(rule, tensorflow::DT_INT16, shape->dim_sizes());
  }

  void Add(Node* node, OutputTensor indices, IndexRule rule, OutputTensor bounding, std::vector<int> sizes, int rank) {
    const std::optional<TensorShape> shape = ShapeOf(indices);
    const DataType type = indices.node->output_type(indices.index);
    if (rank < 1 || !shape.has_value() || !checks::IsIndexType(type)) return;
    if (type == tensorflow::DT_INT16 && !FitsInt16(*node, rule, bounding, sizes)) return;
    sites_.push_back({node, indices, *shape, rule, bounding, std::move(sizes), rank});
  }

  void AddIndexed(Node* node, const IndexedOp& op) {
    const std::optional<IndexRule> rule = IndexRuleOf(*node, op);
    if (!rule.has_value()) return;
    if (rule->kind == IndexKind::kSegment && node->type_string() != kInnerIndicesOp)
      return AddSegments(node, op, *rule);
    const OutputTensor bounding = InputOf(*node, op.bound);
    if (op.sizes) {
      const PartialTensorShape sizes = shapes_.Get().Shape(*bounding.node, bounding.index);
      if (sizes.dims() == 1 && sizes.dim_size(0) >= 0)
        Add(node, InputOf(*node, op.indices), *rule, bounding, {}, static_cast<int>(sizes.dim_size(0)));
      return;
    }
    if (op.resource) {
      AddVariable(node, InputOf(*node, op.indices), *rule, bounding);
      return;
    }
    AddTensor(node, InputOf(*node, op.indices), *rule, bounding);
  }

  // The rank of a variable may be unknown, so that only indices into its first dimension can be checked.
  void AddVariable(Node* node, OutputTensor indices, IndexRule rule, OutputTensor handle) {
    const PartialTensorShape shape = shapes_.Get().Variable(*handle.node, handle.index).first;
    if (rule.kind == IndexKind::kIndex && rule.axis == 0) {
      Add(node, indices, rule, handle, {}, 1);
    } else if (rule.kind == IndexKind::kVector && shape.IsFullyDefined() && shape.num_elements() > 0) {
      Add(node, indices, rule, handle, Integers(shape), shape.dims());
    }
  }

  // The CPU kernel reads no segment ids if the rows have no elements.
  void AddSegments(Node* node, const IndexedOp& op, IndexRule rule) {
    const PartialTensorShape data = shapes_.Get().InputShape(*node, 0);
    const PartialTensorShape ids = shapes_.Get().InputShape(*node, op.indices);
    if (data.dims() < 0 || ids.dims() < 0) return;
    bool known = true;
    for (int i = ids.dims(); i < data.dims(); ++i) {
      if (data.dim_size(i) == 0) return;
      known &= data.dim_size(i) > 0;
    }
    const OutputTensor limit = InputOf(*node, op.bound);
    std::vector<int> sizes;
    // Without segments, the unused index 0 would fail the check.
    if (const std::optional<Tensor> constant = ConstantOf(*limit.node); known && constant.has_value()) {
      if (const int64_t number = checks::WholeNumber(*constant); number > 0) sizes.push_back(static_cast<int>(number));
    }
    Add(node, InputOf(*node, op.indices), rule, limit, std::move(sizes), known ? 1 : 1 + data.dims());
  }

  // `tensor` is the tensor that is indexed.
  void AddTensor(Node* node, OutputTensor indices, IndexRule rule, OutputTensor tensor) {
    const PartialTensorShape shape = shapes_.Get().Shape(*tensor.node, tensor.index);
    if (shape.dims() < 1) return;
    // Of a tensor without elements, even the index 0 would fail the check.
    Add(node, indices, rule, tensor, shape.num_elements() > 0 ? Integers(shape) : std::vector<int>(), shape.dims());
  }

  void AddListElement(Node* node, IndexKind kind) {
    const OutputTensor index = InputOf(*node, 1);
    bool grows = false;  // the list grows instead
    tensorflow::TryGetNodeAttr(node->attrs(), "resize_if_index_out_of_bounds", &grows);
    if (grows || ConstantOf(*index.node).has_value()) return;
    const size_t before = sites_.size();
    Add(node, index, {kind, 0}, InputOf(*node, 0), {}, 1);
    if (sites_.size() > before) node->ClearAttr(kUncheckedAttr);
  }

  // The begin of a slice must be a constant for the compiler if its size is -1.
  void AddSlice(Node* node) {
    const OutputTensor tensor = InputOf(*node, 0), begin = InputOf(*node, 1);
    const std::optional<Tensor> size = ConstantOf(*InputOf(*node, 2).node);
    const PartialTensorShape shape = shapes_.Get().Shape(*tensor.node, tensor.index);
    if (ConstantOf(*begin.node).has_value() || !size.has_value() || shape.dims() != size->NumElements()) return;
    std::vector<int> sizes = shape.IsFullyDefined() ? Integers(shape) : std::vector<int>();
    for (int i = 0; i < shape.dims(); ++i) {
      const int64_t number = ElementOf(*size, i);
      if (number < 0) return;
      if (shape.IsFullyDefined()) sizes.push_back(static_cast<int>(number));
    }
    Add(node, begin, {IndexKind::kBegin, 0}, tensor, std::move(sizes), 2 * shape.dims());
  }

  // Adds the indices of dimensions that a StridedSlice removes (x[i, :, j]).
  void AddElements(Node* node) {
    const OutputTensor begin = InputOf(*node, 1);
    if (begin.node->type_string() != "Pack") return;
    int shrunk = 0, ellipsis = 0, added = 0;
    if (!tensorflow::TryGetNodeAttr(node->attrs(), "shrink_axis_mask", &shrunk) ||
        !tensorflow::TryGetNodeAttr(node->attrs(), "ellipsis_mask", &ellipsis) ||
        !tensorflow::TryGetNodeAttr(node->attrs(), "new_axis_mask", &added)) {
      return;
    }
    const OutputTensor tensor = InputOf(*node, 0);
    const int entries = begin.node->num_inputs(), rank = shapes_.Get().Shape(*tensor.node, tensor.index).dims();
    int dimension = 0;
    for (int i = 0; i < entries; ++i) {
      const int bit = 1 << i;
      if (added & bit & ~ellipsis) continue;
      if (ellipsis & bit) {
        int later = 0;
        for (int j = i + 1; j < entries; ++j) later += (added & (1 << j)) == 0;
        dimension = rank - later;
        continue;
      }
      const OutputTensor index = InputOf(*begin.node, i);
      if ((shrunk & bit) && !ConstantOf(*index.node).has_value() && dimension < rank)
        AddTensor(node, index, {IndexKind::kElement, dimension}, tensor);
      ++dimension;
    }
  }

  const Graph& body_;
  LazyShapes& shapes_;
  std::vector<IndexSite> sites_;
};

Tensor Filled(DataType type, const TensorShape& shape, int value) {
  Tensor tensor(type, shape);
  switch (type) {
    case tensorflow::DT_INT16:
      tensor.flat<int16_t>().setConstant(static_cast<int16_t>(value));
      break;
    case tensorflow::DT_INT64:
      tensor.flat<int64_t>().setConstant(value);
      break;
    default:
      tensor.flat<int32_t>().setConstant(value);
  }
  return tensor;
}

bool IsListElement(const IndexSite& site) {
  return site.node->type_string() == "TensorListGetItem" || site.node->type_string() == "TensorListSetItem";
}

// The sizes of the tensor, and those of the slice.
absl::StatusOr<NodeBuilder::NodeOut> SizesOfSlice(const IndexSite& site, const NodeMaker& maker) {
  NodeBuilder shape = maker.New("shape", "Shape");
  shape.Input(site.bounding.node, site.bounding.index).Attr("out_type", tensorflow::DT_INT32);
  HPU_ASSIGN_OR_RETURN(Node * dimensions, maker.Add(shape));
  const OutputTensor size = InputOf(*site.node, 2);
  HPU_ASSIGN_OR_RETURN(Node * sizes, maker.Cast("size", {size.node, size.index}, tensorflow::DT_INT32));
  HPU_ASSIGN_OR_RETURN(Node * axis, maker.Constant("axis", Filled(tensorflow::DT_INT32, {}, 0)));
  NodeBuilder concat = maker.New("sizes", "ConcatV2");
  const std::vector<NodeBuilder::NodeOut> parts = {{dimensions, 0}, {sizes, 0}};
  HPU_ASSIGN_OR_RETURN(Node * both, maker.Add(concat.Input(parts).Input(axis)));
  return NodeBuilder::NodeOut(both, 0);
}

}  // namespace

bool MayHaveSites(const tensorflow::NameAttrList& function, const tensorflow::FunctionLibraryDefinition& library) {
  return FindReachableNode(function.name(), library, MayBeSite) != nullptr;
}

Sites FindSites(const Graph& function, LazyShapes* shapes, ValueTests* tests) {
  return {SiteFinder(function, shapes).Run(), FindValueSites(function, tests)};
}

Tensor SizesTensor(const std::vector<int>& sizes) {
  Tensor tensor(tensorflow::DT_INT32, {static_cast<int64_t>(sizes.size())});
  absl::c_copy(sizes, tensor.flat<int32_t>().data());
  return tensor;
}

Tensor UnusedIndices(const IndexSite& site) {
  Tensor indices = Filled(site.indices.node->output_type(site.indices.index), site.shape, 0);
  if (site.rule.kind != IndexKind::kPermutation) return indices;
  for (int64_t i = 0; i < indices.NumElements(); ++i) {  // zeros are no permutation
    if (indices.dtype() == tensorflow::DT_INT64) {
      indices.flat<int64_t>()(i) = i;
    } else {
      indices.flat<int32_t>()(i) = static_cast<int32_t>(i);
    }
  }
  return indices;
}

Tensor UnusedSizes(const IndexSite& site) {
  const bool counts = site.rule.kind == IndexKind::kPermutation;
  return Filled(tensorflow::DT_INT32, {site.rank}, counts ? static_cast<int>(site.shape.num_elements()) : 1);
}

absl::StatusOr<NodeBuilder::NodeOut> SizesOf(const IndexSite& site, const NodeMaker& maker) {
  Node* sizes = nullptr;
  if (!site.sizes.empty()) {
    HPU_ASSIGN_OR_RETURN(sizes, maker.Constant("sizes", SizesTensor(site.sizes)));
    return NodeBuilder::NodeOut(sizes, 0);
  }
  const NodeBuilder::NodeOut bounding(site.bounding.node, site.bounding.index);
  if (IsListElement(site)) {
    NodeBuilder length = maker.New("length", "TensorListLength");
    HPU_ASSIGN_OR_RETURN(Node * scalar, maker.Add(length.Input(bounding)));
    NodeBuilder vector = maker.New("sizes", "Pack");
    HPU_ASSIGN_OR_RETURN(sizes, maker.Add(vector.Input(std::vector<NodeBuilder::NodeOut>{scalar})));
    return NodeBuilder::NodeOut(sizes, 0);
  }
  const IndexedOp* const op = IndexedOpOf(site.node->type_string());
  if (op != nullptr && op->sizes) {
    NodeBuilder::NodeOut values = bounding;
    if (site.bounding.node->output_type(site.bounding.index) != tensorflow::DT_INT32) {
      HPU_ASSIGN_OR_RETURN(sizes, maker.Cast("sizes", bounding, tensorflow::DT_INT32));
      values = NodeBuilder::NodeOut(sizes, 0);
    }
    if (site.rule.kind != IndexKind::kSegment || site.node->type_string() == kInnerIndicesOp) return values;
    if (site.rank > 1) {
      std::vector<Node*> made;
      HPU_ASSIGN_OR_RETURN(sizes, SegmentSizes(maker, maker, values, InputOf(*site.node, 0), &made));
    } else {
      HPU_ASSIGN_OR_RETURN(Node * shape, maker.Constant("shape", Filled(tensorflow::DT_INT32, {1}, 1)));
      NodeBuilder vector = maker.New("sizes", "Reshape");
      HPU_ASSIGN_OR_RETURN(sizes, maker.Add(vector.Input(values).Input(shape)));
    }
    return NodeBuilder::NodeOut(sizes, 0);
  }
  if (site.rule.kind == IndexKind::kBegin) return SizesOfSlice(site, maker);
  const bool is_variable = op != nullptr && op->resource;
  NodeBuilder shape = maker.New("sizes", is_variable ? "VariableShape" : "Shape");
  HPU_ASSIGN_OR_RETURN(sizes, maker.Add(shape.Input(bounding).Attr("out_type", tensorflow::DT_INT32)));
  if (!is_variable) return NodeBuilder::NodeOut(sizes, 0);
  // The rank of a variable may be unknown, so only the first size leaves the function.
  HPU_ASSIGN_OR_RETURN(Node * first, maker.Constant("first", Filled(tensorflow::DT_INT32, {1}, 0)));
  HPU_ASSIGN_OR_RETURN(Node * axis, maker.Constant("axis", Filled(tensorflow::DT_INT32, {}, 0)));
  NodeBuilder rows = maker.New("rows", "GatherV2");
  HPU_ASSIGN_OR_RETURN(sizes, maker.Add(rows.Input(sizes).Input(first).Input(axis)));
  sizes->AddAttr(kInRangeAttr, true);
  return NodeBuilder::NodeOut(sizes, 0);
}

absl::StatusOr<Node*> TestOf(const IndexSite& site, NodeBuilder::NodeOut sizes, const NodeMaker& maker) {
  site.node->AddAttr(kInRangeAttr, true);
  NodeBuilder test = maker.New("in_range", kIndicesInRangeOp);
  test.Input(site.indices.node, site.indices.index).Input(sizes);
  return maker.Add(test.Attr("kind", checks::NameOf(site.rule.kind)).Attr("axis", site.rule.axis));
}

absl::StatusOr<Node*> TestOf(const ValueSite& site, const NodeMaker& maker, ValueTests* tests) {
  site.node->AddAttr(kInRangeAttr, true);
  if (site.rule != nullptr) return tests->Make(*site.node, *site.rule, maker);
  return OnlyOutput(InputOf(*site.node, 0), maker);
}

}  // namespace hpu::passes
