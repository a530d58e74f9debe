#include "plugin/passes/clustering/check_pass.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/base/status_macros.h"
#include "plugin/op_facts/op_facts.h"
#include "plugin/passes/analysis/index_sources.h"
#include "plugin/passes/analysis/node_index_rule.h"
#include "plugin/passes/analysis/op_rules.h"
#include "plugin/passes/analysis/shape_formulas.h"
#include "plugin/passes/clustering/check_order.h"
#include "plugin/passes/clustering/segment_sizes.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/graph/node_maker.h"

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::Graph;
using tensorflow::Node;
using tensorflow::NodeBuilder;
using tensorflow::OutputTensor;
using tensorflow::Tensor;

// Sizes are passed as int32; larger constant sizes are clamped to this value.
constexpr int64_t kMaxSize = std::numeric_limits<int32_t>::max();

// Whether indices are result 1 of Unique: segment ids that number the unique values, and are therefore in range.
bool IsPosition(const OutputTensor& indices) { return indices.node->type_string() == "Unique" && indices.index == 1; }

bool KeepsShape(const OutputTensor& values) {
  return values.node->type_string() == "Identity" || values.node->type_string() == "Cast";
}

// Indices that a check reads.
struct CheckedIndices {
  OutputTensor tensor;
  int64_t added_to_negative = 0;
};

class IndexCheckMaker {
 public:
  IndexCheckMaker(PassContext* context, const std::vector<Node*>& nodes)
      : context_(context),
        lowered_(HasLoweredControlFlow(**context->graph)),
        followers_(**context->graph),
        shapes_(context->graph->get(), nodes) {}

  absl::Status Add(Node* node, const IndexedOp& op);

 private:
  // Sizes that bound the indices; -1 for a size that is not fixed. Empty if the number of sizes is unknown.
  std::vector<int32_t> FixedSizes(const Node& node, const IndexedOp& op);
  // Sizes of the rows of a segment operation: -1 for a size that is not fixed; nullopt if their number is unknown.
  std::optional<std::vector<int64_t>> RowSizes(const Node& node, const IndexedOp& op);
  CheckedIndices FindValues(OutputTensor indices, bool vectors, bool to_host, int64_t size) const;
  bool AreCoordinates(const Node& node, const IndexedOp& op, const IndexRule& rule, const std::vector<int32_t>& sizes);
  absl::StatusOr<NodeBuilder::NodeOut> SizesNode(const Node& node, const IndexedOp& op, const NodeMaker& maker,
                                                 const std::vector<int32_t>& sizes, bool fixed);
  void MarkUnchecked(Node* node) { node->AddAttr(kUncheckedAttr, true); }

  PassContext* const context_;
  const bool lowered_;
  const UpdateFollowers followers_;  // of the graph without checks
  ShapeFormulas shapes_;
  std::map<std::string, Node*> made_;  // checks, by indices and bound
};

std::vector<int32_t> IndexCheckMaker::FixedSizes(const Node& node, const IndexedOp& op) {
  std::vector<int32_t> sizes;
  if (op.sizes) {
    const std::optional<Tensor> value = ConstantOf(*InputOf(node, op.bound).node);
    if (!value.has_value()) return sizes;
    if (value->dtype() == tensorflow::DT_INT32) {
      sizes.assign(value->flat<int32_t>().data(), value->flat<int32_t>().data() + value->NumElements());
    } else if (value->dtype() == tensorflow::DT_INT64) {
      const auto wide = value->flat<int64_t>();
      for (int64_t i = 0; i < wide.size(); ++i) sizes.push_back(static_cast<int32_t>(std::min(wide(i), kMaxSize)));
    }
    return sizes;
  }
  const int rank = shapes_.InputRank(node, op.bound);
  for (int i = 0; i < rank; ++i) sizes.push_back(static_cast<int32_t>(shapes_.FixedInputSize(node, op.bound, i)));
  return sizes;
}

// Returns the tensor to check instead of `indices`. Searches backwards through ops that keep values, until a tensor in
// host memory. With `to_host`, the search may pass one wrapped index, and returns its last tensor. Without `to_host`,
// returns the last tensor only if it is in host memory. Otherwise returns the input of a Unique, because the result of
// a Unique must not leave its cluster. Without a Unique, returns `indices`. Indices in range are below `size`.
CheckedIndices IndexCheckMaker::FindValues(OutputTensor indices, bool vectors, bool to_host, int64_t size) const {
  CheckedIndices found{indices};
  OutputTensor best = indices;
  while (!IsOnHost(found.tensor)) {
    const bool may_wrap = to_host && !vectors && found.added_to_negative == 0;
    if (const auto wrapped = may_wrap ? FindWrappedIndex(found.tensor) : std::nullopt) {
      found = {wrapped->index, wrapped->size};
      continue;
    }
    if (!KeepsValues(found.tensor) || (vectors && !KeepsShape(found.tensor))) break;
    OutputTensor source = InputOf(*found.tensor.node, 0);
    if (!vectors) source = IntegersOf(source, size);
    if (!checks::IsIndexType(source.node->output_type(source.index))) break;
    if (!to_host && found.tensor.node->type_string() == "Unique") best = source;
    found.tensor = source;
  }
  return to_host || IsOnHost(found.tensor) ? found : CheckedIndices{best};
}

// Whether indices are coordinates of true flags (tf.boolean_mask), and the flags are at most as large as the indexed
// tensor in each dimension. `sizes` are those of FixedSizes.
bool IndexCheckMaker::AreCoordinates(const Node& node, const IndexedOp& op, const IndexRule& rule,
                                     const std::vector<int32_t>& sizes) {
  OutputTensor indices = InputOf(node, op.indices);
  const bool vectors = rule.kind == IndexKind::kVector;
  while (KeepsValues(indices) && (!vectors || KeepsShape(indices))) indices = InputOf(*indices.node, 0);
  if (indices.node->type_string() != "Where") return false;
  const int rank = shapes_.InputRank(*indices.node, 0);
  const int64_t known = static_cast<int64_t>(sizes.size());
  for (int i = 0; i < rank; ++i) {
    const int64_t flags = shapes_.FixedInputSize(*indices.node, 0, i);
    const int64_t axis = rule.axis < 0 ? rule.axis + known : rule.axis;
    const int64_t bounding = vectors ? i : axis;
    if (flags >= 0 && bounding >= 0 && bounding < known && flags <= sizes[bounding]) continue;
    // If a value bounds the indices, it contains the sizes of the result.
    const int bounded_by = op.sizes ? 0 : op.bound;
    if (!shapes_.AreSurelyEqual({indices.node, true, 0, i}, {&node, !op.sizes, bounded_by, static_cast<int>(bounding)}))
      return false;
  }
  return rank > 0;
}

absl::StatusOr<NodeBuilder::NodeOut> IndexCheckMaker::SizesNode(const Node& node, const IndexedOp& op,
                                                                const NodeMaker& maker,
                                                                const std::vector<int32_t>& sizes, bool fixed) {
  if (fixed) {
    Tensor value(tensorflow::DT_INT32, {static_cast<int64_t>(sizes.size())});
    std::copy(sizes.begin(), sizes.end(), value.flat<int32_t>().data());
    HPU_ASSIGN_OR_RETURN(Node * constant, maker.Constant("sizes", value));
    return NodeBuilder::NodeOut(constant, 0);
  }
  const OutputTensor bound = InputOf(node, op.bound);
  if (op.sizes && bound.node->output_type(bound.index) == tensorflow::DT_INT32) {
    return NodeBuilder::NodeOut(bound.node, bound.index);
  }
  const NodeMaker on_device(context_->graph->get(), absl::StrCat(node.name(), "/habana_check"),
                            node.assigned_device_name());
  if (op.sizes) {
    HPU_ASSIGN_OR_RETURN(Node * narrow, on_device.Cast("sizes", {bound.node, bound.index}, tensorflow::DT_INT32));
    return NodeBuilder::NodeOut(narrow, 0);
  }
  NodeBuilder builder = on_device.New("shape", "Shape");
  builder.Input(bound.node, bound.index).Attr("out_type", tensorflow::DT_INT32);
  HPU_ASSIGN_OR_RETURN(Node * shape, on_device.Add(builder));
  return NodeBuilder::NodeOut(shape, 0);
}

std::optional<std::vector<int64_t>> IndexCheckMaker::RowSizes(const Node& node, const IndexedOp& op) {
  const int rank = shapes_.InputRank(node, 0), ids_rank = shapes_.InputRank(node, op.indices);
  if (rank < 0 || ids_rank < 0) return std::nullopt;
  std::vector<int64_t> sizes;
  for (int i = ids_rank; i < rank; ++i) sizes.push_back(shapes_.FixedInputSize(node, 0, i));
  return sizes;
}

absl::Status IndexCheckMaker::Add(Node* node, const IndexedOp& op) {
  // If the rows of a segment operation have no elements, its CPU kernel reads no segment ids.
  bool may_be_empty = false;
  if (op.kind == IndexKind::kSegment) {
    const std::optional<std::vector<int64_t>> rows = RowSizes(*node, op);
    if (rows.has_value() && absl::c_linear_search(*rows, 0)) return absl::OkStatus();
    may_be_empty = !rows.has_value() || absl::c_any_of(*rows, [](int64_t size) { return size < 0; });
  }
  const std::optional<IndexRule> rule = IndexRuleOf(*node, op);
  const OutputTensor indices = InputOf(*node, op.indices);
  const std::vector<int32_t> sizes = FixedSizes(*node, op);
  const auto is_fixed = [](int32_t size) { return size >= 0; };
  const int64_t rank = static_cast<int64_t>(sizes.size());
  bool fixed = rank > 0 && std::all_of(sizes.begin(), sizes.end(), is_fixed);
  int64_t size = std::numeric_limits<int64_t>::max();
  if (rule.has_value() && rule->kind != IndexKind::kVector) {
    const int64_t axis = rule->axis < 0 ? rule->axis + rank : rule->axis;
    fixed = axis >= 0 && axis < rank && is_fixed(sizes[axis]);
    if (fixed) size = sizes[axis];
  }
  if (!rule.has_value() || (op.resource && !fixed) || !checks::IsIndexType(indices.node->output_type(indices.index))) {
    MarkUnchecked(node);
    return absl::OkStatus();
  }
  const std::vector<int64_t> known(sizes.begin(), sizes.end());
  const tensorflow::DataType type = indices.node->output_type(indices.index);
  if (type == tensorflow::DT_INT16 && !(fixed && checks::FitsIndexType(*rule, type, known))) {
    MarkUnchecked(node);
    return absl::OkStatus();
  }
  if (const std::optional<Tensor> constant = ConstantOf(*indices.node); constant.has_value() && fixed) {
    if (!checks::CheckIndices(*rule, *constant, known).ok()) MarkUnchecked(node);
    return absl::OkStatus();
  }
  if (IsPosition(indices)) return absl::OkStatus();
  if (rule->kind != IndexKind::kLabel && AreCoordinates(*node, op, *rule, sizes)) return absl::OkStatus();
  // Assumes that constant indices into int32 tensors are valid, because libraries use such indices for shape
  // arithmetic.
  const OutputTensor bounding = InputOf(*node, op.bound);
  if (!op.sizes && indices.node->IsConstant() && bounding.node->output_type(bounding.index) == tensorflow::DT_INT32) {
    return absl::OkStatus();
  }
  const bool vectors = rule->kind == IndexKind::kVector;
  // In lowered loops and branches, the check must run in the frame and branch of the op, and so reads the op's input.
  CheckedIndices checked = lowered_ ? CheckedIndices{indices} : FindValues(indices, vectors, /*to_host=*/true, size);
  const bool on_host = fixed && IsOnHost(checked.tensor) && !may_be_empty;
  const bool before = on_host && !followers_.Contains(*node);
  if (!before && !lowered_) checked = FindValues(indices, vectors, /*to_host=*/false, size);
  const OutputTensor& values = checked.tensor;
  // A check that waits for an op is the op's own: waiting for several ops could be a cycle.
  const bool shared = fixed && !may_be_empty && before == on_host;
  const std::string key =
      absl::StrCat(values.node->name(), ":", values.index, "|", checked.added_to_negative, checks::NameOf(rule->kind),
                   rule->axis, "|", shared ? absl::StrJoin(sizes, ",") : absl::StrCat("of ", node->name()));
  Node*& check = made_[key];
  if (check == nullptr) {
    NodeMaker maker(context_->graph->get(), absl::StrCat(node->name(), "/habana_check"),
                    HostOf(node->assigned_device_name()), lowered_ ? values.node : nullptr);
    HPU_ASSIGN_OR_RETURN(NodeBuilder::NodeOut shape, SizesNode(*node, op, maker, sizes, fixed));
    if (may_be_empty) {
      const NodeMaker on_device(context_->graph->get(), absl::StrCat(node->name(), "/habana_check"),
                                node->assigned_device_name());
      std::vector<Node*> made;
      HPU_ASSIGN_OR_RETURN(Node * segments, SegmentSizes(maker, on_device, shape, InputOf(*node, 0), &made));
      shape = NodeBuilder::NodeOut(segments, 0);
    }
    NodeBuilder builder = maker.New("indices", kCheckIndicesOp);
    builder.Input(values.node, values.index)
        .Input(shape)
        .Attr("kind", checks::NameOf(rule->kind))
        .Attr("axis", rule->axis);
    HPU_ASSIGN_OR_RETURN(
        check, maker.Add(builder.Attr("node", node->name()).Attr("added_to_negative", checked.added_to_negative)));
  }
  OrderCheck(context_, node, check, "indices are", before);
  return absl::OkStatus();
}

}  // namespace

absl::Status AddIndexChecks(PassContext* context) {
  std::vector<Node*> nodes;
  for (Node* node : (*context->graph)->op_nodes()) {
    const IndexedOp* op = IsOnHpu(*node) ? IndexedOpOf(node->type_string()) : nullptr;
    if (op == nullptr || InputOf(*node, op->indices).node->type_string() == kRandomOrderOp) continue;
    if (node->attrs().Find(kInRangeAttr) != nullptr) continue;
    nodes.push_back(node);
  }
  if (nodes.empty()) return absl::OkStatus();
  IndexCheckMaker maker(context, nodes);
  for (Node* node : nodes) HPU_RETURN_IF_ERROR(maker.Add(node, *FactsOf(node->type_string()).indices));
  return absl::OkStatus();
}

}  // namespace hpu::passes
