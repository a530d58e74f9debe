#include "plugin/passes/host_shapes.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "plugin/passes/graph_util.h"
#include "plugin/passes/node_maker.h"
#include "tensorflow/core/graph/algorithm.h"
#include "tensorflow/core/platform/logging.h"

namespace hpu::passes {
namespace {

using tensorflow::Node;
using tensorflow::shape_inference::DimensionHandle;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

tensorflow::Tensor Int32Scalar(int32_t value) { return tensorflow::Tensor(value); }

tensorflow::Tensor Int32Vector(std::initializer_list<int32_t> values) {
  tensorflow::Tensor tensor(tensorflow::DT_INT32, {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.flat<int32_t>().data());
  return tensor;
}

// Sizes to put in for unknown ones, for each probe; large and prime, so that no other size is a multiple by chance.
constexpr int kPrimeCount = 8;
constexpr int64_t kPrimes[2][kPrimeCount] = {{1009, 1013, 1019, 1021, 1031, 1033, 1039, 1049},
                                             {1109, 1117, 1123, 1129, 1151, 1153, 1163, 1171}};

// Whether a node's results exist before any cluster runs, whatever the clusters are.
bool IsSource(const Node& node) {
  if (node.IsArg()) return true;
  if (IsOnHpu(node) || node.IsConstant()) return false;
  for (const tensorflow::Edge* edge : node.in_edges()) {
    if (!edge->IsControlEdge() && !edge->src()->IsArg()) return false;
  }
  return true;
}

}  // namespace

HostShapes::HostShapes(PassContext* context, const std::vector<Node*>& targets) : context_(context) { Infer(targets); }

HostShapes::~HostShapes() = default;

void HostShapes::Infer(const std::vector<Node*>& targets) {
  const tensorflow::Graph& graph = **context_->graph;
  // Only what the targets are computed from: shape inference costs more than all passes together.
  std::vector<bool> needed(graph.num_node_ids(), false);
  std::vector<const Node*> start(targets.begin(), targets.end());
  tensorflow::ReverseDFSFrom(graph, start, [&needed](const Node* node) { needed[node->id()] = true; }, nullptr);
  std::vector<Node*> order;
  tensorflow::GetReversePostOrder(graph, &order, tensorflow::NodeComparatorID(),
                                  [](const tensorflow::Edge& edge) { return !edge.src()->IsNextIteration(); });
  for (int probe = 0; probe < kProbes; ++probe) {
    refiners_[probe] = std::make_unique<tensorflow::ShapeRefiner>(graph.versions(), graph.op_registry());
    refiners_[probe]->set_require_shape_inference_fns(false);
    for (Node* node : order) {
      // Nodes that it fails on, and those behind them, have unknown shapes: then nothing is found.
      if (!node->IsOp() || !needed[node->id()]) continue;
      if (const tensorflow::Status status = refiners_[probe]->AddNode(node); !status.ok()) {
        VLOG(2) << "no shape for " << node->name() << ": " << status;
        continue;
      }
      if (IsSource(*node)) PutSizes(node, probe);
    }
  }
}

void HostShapes::PutSizes(Node* node, int probe) {
  InferenceContext* inference = refiners_[probe]->GetContext(node);
  for (int output = 0; output < node->num_outputs(); ++output) {
    ShapeHandle shape = inference->output(output);
    if (!inference->RankKnown(shape)) continue;
    bool changed = false;
    for (int i = 0; i < inference->Rank(shape); ++i) {
      if (inference->ValueKnown(inference->Dim(shape, i))) continue;
      const int64_t put = SourceAt(node, output, i).probes[probe];
      changed |= inference->ReplaceDim(shape, i, inference->MakeDim(put), &shape).ok();
    }
    if (changed) refiners_[probe]->SetShape(node, output, shape).IgnoreError();
  }
}

const HostShapes::Source& HostShapes::SourceAt(Node* node, int output, int dimension) {
  for (const Source& source : sources_) {
    if (source.node == node && source.output == output && source.dimension == dimension) return source;
  }
  // First dimensions are batches, equal in all inputs; other sizes are told apart.
  const int slot = dimension == 0 ? 0 : 1 + static_cast<int>(sources_.size() % (kPrimeCount - 1));
  sources_.push_back({node, output, dimension, {kPrimes[0][slot], kPrimes[1][slot]}});
  return sources_.back();
}

const HostShapes::Source* HostShapes::Explain(int64_t first, int64_t second, int64_t* factor) const {
  for (const Source& source : sources_) {
    *factor = first / source.probes[0];
    if (*factor > 0 && *factor * source.probes[0] == first && *factor * source.probes[1] == second) return &source;
  }
  return nullptr;
}

// Unset if nothing is known.
ShapeHandle HostShapes::InputShape(const Node& node, int input, int probe) {
  InferenceContext* inference = refiners_[probe]->GetContext(&node);
  if (inference == nullptr) return ShapeHandle();
  const auto* variables = inference->input_handle_shapes_and_types(input);
  if (variables == nullptr) return inference->input(input);
  return variables->size() == 1 ? (*variables)[0].shape : ShapeHandle();
}

int HostShapes::InputRank(const Node& node, int input) {
  const ShapeHandle shape = InputShape(node, input, 0);
  return shape.Handle() != 0 && InferenceContext::RankKnown(shape) ? InferenceContext::Rank(shape) : -1;
}

int64_t HostShapes::FixedInputSize(const Node& node, int input, int dimension) {
  int64_t sizes[kProbes];
  for (int probe = 0; probe < kProbes; ++probe) {
    const ShapeHandle shape = InputShape(node, input, probe);
    if (shape.Handle() == 0 || !InferenceContext::RankKnown(shape)) return -1;
    const int rank = InferenceContext::Rank(shape);
    if (dimension < -rank || dimension >= rank) return -1;
    const DimensionHandle size = InferenceContext::DimKnownRank(shape, dimension < 0 ? dimension + rank : dimension);
    if (!InferenceContext::ValueKnown(size)) return -1;
    sizes[probe] = InferenceContext::Value(size);
  }
  return sizes[0] == sizes[1] ? sizes[0] : -1;
}

absl::StatusOr<Node*> HostShapes::AddSize(const Source& source) {
  Node*& made = made_[absl::StrCat(source.node->name(), ":", source.output, "[", source.dimension, "]")];
  if (made != nullptr) return made;
  NodeMaker maker(context_->graph->get(), absl::StrCat(source.node->name(), "/habana_size"),
                  source.node->assigned_device_name());
  Node*& shape = made_[absl::StrCat(source.node->name(), ":", source.output)];
  if (shape == nullptr) {
    tensorflow::NodeBuilder builder = maker.New("shape", "Shape");
    builder.Input(source.node, source.output).Attr("out_type", tensorflow::DT_INT32).Attr(kHostShapeAttr, true);
    TF_ASSIGN_OR_RETURN(shape, maker.Add(builder));
  }
  TF_ASSIGN_OR_RETURN(Node * begin, maker.Constant("begin", Int32Vector({source.dimension})));
  TF_ASSIGN_OR_RETURN(Node * end, maker.Constant("end", Int32Vector({source.dimension + 1})));
  TF_ASSIGN_OR_RETURN(Node * stride, maker.Constant("stride", Int32Vector({1})));
  tensorflow::NodeBuilder builder = maker.New("size", "StridedSlice");
  builder.Input(shape).Input(begin).Input(end).Input(stride).Attr("shrink_axis_mask", 1).Attr(kHostShapeAttr, true);
  TF_ASSIGN_OR_RETURN(made, maker.Add(builder));
  return made;
}

absl::StatusOr<Node*> HostShapes::AddMultiple(const Source& source, int64_t factor, const std::string& device) {
  TF_ASSIGN_OR_RETURN(Node * size, AddSize(source));
  if (factor == 1) return size;
  Node*& made = made_[absl::StrCat(device, ":", factor, "*", size->name())];
  if (made != nullptr) return made;
  NodeMaker maker(context_->graph->get(), absl::StrCat(source.node->name(), "/habana_size"), device);
  TF_ASSIGN_OR_RETURN(Node * constant, maker.Constant("factor", Int32Scalar(static_cast<int32_t>(factor))));
  tensorflow::NodeBuilder builder = maker.New("multiple", "Mul");
  builder.Input(size).Input(constant).Attr(kHostShapeAttr, true);
  TF_ASSIGN_OR_RETURN(made, maker.Add(builder));
  return made;
}

absl::StatusOr<std::optional<Node*>> HostShapes::ShapeOf(const Node& node, int output, const std::string& device) {
  struct Size {
    const Source* source;  // null: fixed
    int64_t value;         // or factor
  };
  std::vector<Size> sizes;
  std::string formula = absl::StrCat(device, ":");
  InferenceContext* first = refiners_[0]->GetContext(&node);
  InferenceContext* second = refiners_[1]->GetContext(&node);
  if (first == nullptr || second == nullptr) return std::nullopt;
  const ShapeHandle shapes[] = {first->output(output), second->output(output)};
  if (!first->FullyDefined(shapes[0]) || !second->FullyDefined(shapes[1])) return std::nullopt;
  if (first->Rank(shapes[0]) != second->Rank(shapes[1])) return std::nullopt;
  for (int i = 0; i < first->Rank(shapes[0]); ++i) {
    const int64_t values[] = {first->Value(first->Dim(shapes[0], i)), second->Value(second->Dim(shapes[1], i))};
    Size size{nullptr, values[0]};
    if (values[0] != values[1]) size.source = Explain(values[0], values[1], &size.value);
    if (values[0] != values[1] && size.source == nullptr) return std::nullopt;
    absl::StrAppend(&formula, size.value, "*", size.source == nullptr ? -1 : size.source - sources_.data(), ",");
    sizes.push_back(size);
  }
  Node*& made = made_[formula];
  if (made != nullptr) return made;
  NodeMaker maker(context_->graph->get(), absl::StrCat(node.name(), "/habana_shape"), device);
  if (std::all_of(sizes.begin(), sizes.end(), [](const Size& size) { return size.source == nullptr; })) {
    tensorflow::Tensor shape(tensorflow::DT_INT32, {static_cast<int64_t>(sizes.size())});
    for (size_t i = 0; i < sizes.size(); ++i) shape.flat<int32_t>()(i) = static_cast<int32_t>(sizes[i].value);
    TF_ASSIGN_OR_RETURN(made, maker.Constant("fixed", shape));
    return made;
  }
  std::vector<tensorflow::NodeBuilder::NodeOut> parts;
  for (const Size& size : sizes) {
    Node* part = nullptr;
    if (size.source != nullptr) {
      TF_ASSIGN_OR_RETURN(part, AddMultiple(*size.source, size.value, device));
    } else {
      TF_ASSIGN_OR_RETURN(part, maker.Constant("size", Int32Scalar(static_cast<int32_t>(size.value))));
    }
    parts.emplace_back(part);
  }
  tensorflow::NodeBuilder builder = maker.New("pack", "Pack");
  builder.Input(parts).Attr("N", static_cast<int>(parts.size())).Attr("axis", 0).Attr(kHostShapeAttr, true);
  TF_ASSIGN_OR_RETURN(made, maker.Add(builder));
  return made;
}

}  // namespace hpu::passes
