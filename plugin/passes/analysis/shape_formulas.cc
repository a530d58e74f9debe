#include "plugin/passes/analysis/shape_formulas.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/base/status_macros.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/graph/node_maker.h"
#include "tensorflow/core/graph/algorithm.h"
#include "tensorflow/core/platform/logging.h"

namespace hpu::passes {
namespace {

using tensorflow::Node;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

tensorflow::Tensor Int32Scalar(int32_t value) { return tensorflow::Tensor(value); }

tensorflow::Tensor Int32Vector(std::initializer_list<int32_t> values) {
  tensorflow::Tensor tensor(tensorflow::DT_INT32, {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.flat<int32_t>().data());
  return tensor;
}

int RankOf(ShapeHandle shape) {
  return shape.Handle() != 0 && InferenceContext::RankKnown(shape) ? InferenceContext::Rank(shape) : -1;
}

// Whether a node runs before all clusters, regardless of clustering.
bool IsSource(const Node& node) {
  if (node.IsArg()) return true;
  if (IsOnHpu(node) || node.IsConstant()) return false;
  for (const tensorflow::Edge* edge : node.in_edges()) {
    if (!edge->IsControlEdge() && !edge->src()->IsArg()) return false;
  }
  return true;
}

}  // namespace

int64_t Primes::At(size_t index) {
  for (; index >= found_.size(); ++next_) {
    int64_t divisor = 2;
    while (divisor * divisor <= next_ && next_ % divisor != 0) ++divisor;
    if (divisor * divisor > next_) found_.push_back(next_);
  }
  return found_[index];
}

ShapeFormulas::ShapeFormulas(tensorflow::Graph* graph, const std::vector<Node*>& targets, Stacks stacks)
    : graph_(graph), stacks_(stacks) {
  Infer(targets);
}

ShapeFormulas::~ShapeFormulas() = default;

void ShapeFormulas::Infer(const std::vector<Node*>& targets) {
  const tensorflow::Graph& graph = *graph_;
  // Infers only the shapes of the targets and their ancestors, because shape inference costs more than all passes
  // together.
  std::vector<bool> needed(graph.num_node_ids(), false);
  std::vector<const Node*> start(targets.begin(), targets.end());
  tensorflow::ReverseDFSFrom(graph, start, [&needed](const Node* node) { needed[node->id()] = true; }, nullptr);
  std::vector<Node*> order;
  tensorflow::GetReversePostOrder(graph, &order, tensorflow::NodeComparatorID(),
                                  [](const tensorflow::Edge& edge) { return !edge.src()->IsNextIteration(); });
  const auto others = [&needed](const Node* node) { return !node->IsOp() || !needed[node->id()]; };
  order.erase(std::remove_if(order.begin(), order.end(), others), order.end());
  bool joined = false;
  do {
    joined = false;
    for (const Node* node : InferWith(kRising, order)) joined |= JoinBatches(*node);
  } while (joined);
  if (sources_.empty()) return;
  InferWith(kFalling, order);
  if (!InferWith(kOnes, order).empty()) InferWith(kTens, order);
  InferWith(kLarge, order);
}

std::vector<Node*> ShapeFormulas::InferWith(Probe probe, const std::vector<Node*>& order) {
  const tensorflow::Graph& graph = *graph_;
  refiners_[probe] = std::make_unique<tensorflow::ShapeRefiner>(graph.versions(), graph.op_registry());
  refiners_[probe]->set_require_shape_inference_fns(false);
  std::vector<Node*> refused;
  for (Node* node : order) {
    // If inference fails for a node, the shapes of the node and of its descendants stay unknown.
    if (const tensorflow::Status status = refiners_[probe]->AddNode(node); !status.ok()) {
      VLOG(2) << "shape inference failed for " << node->name() << ": " << status;
      refused.push_back(node);
      continue;
    }
    const bool is_stack = stacks_ == Stacks::kSources && node->type_string() == "TensorListStack";
    if (IsSource(*node) || is_stack) PutSizes(node, probe);
  }
  return refused;
}

void ShapeFormulas::PutSizes(Node* node, Probe probe) {
  InferenceContext* inference = refiners_[probe]->GetContext(node);
  for (int output = 0; output < node->num_outputs(); ++output) {
    ShapeHandle shape = inference->output(output);
    if (!inference->RankKnown(shape)) continue;
    bool changed = false;
    for (int i = 0; i < inference->Rank(shape); ++i) {
      if (inference->ValueKnown(inference->Dim(shape, i))) continue;
      const int64_t put = SizeOf(SourceAt(node, output, i), probe);
      changed |= inference->ReplaceDim(shape, i, inference->MakeDim(put), &shape).ok();
    }
    if (changed) refiners_[probe]->SetShape(node, output, shape).IgnoreError();
  }
}

int ShapeFormulas::SourceAt(Node* node, int output, int dimension) {
  const int next = static_cast<int>(sources_.size());
  const auto [place, is_new] = places_.try_emplace({node, output, dimension}, next);
  if (is_new) sources_.push_back({node, output, dimension, next});
  return place->second;
}

int64_t ShapeFormulas::SizeOf(int source, Probe probe) {
  const int batch = sources_[source].batch;
  switch (probe) {
    case kRising:
      return primes_.At(batch);
    case kFalling:
      return primes_.At(2 * sources_.size() - 1 - batch);
    case kOnes:
      return 1;
    case kTens:
      return 37;
    default:
      return large_primes_.At(batch);
  }
}

int ShapeFormulas::BatchOf(const tensorflow::Edge& input) {
  InferenceContext* inference = ContextOf(*input.src(), kRising);
  const ShapeHandle shape = inference != nullptr ? inference->output(input.src_output()) : ShapeHandle();
  if (RankOf(shape) < 1) return -1;
  const int64_t size = InferenceContext::Value(InferenceContext::DimKnownRank(shape, 0));
  int batch = -1;
  for (size_t i = 0; i < sources_.size() && size > 0; ++i) {
    if (sources_[i].batch == batch || size % SizeOf(i, kRising) != 0) continue;
    if (batch >= 0 || sources_[i].dimension != 0) return -1;
    batch = sources_[i].batch;
  }
  return batch;
}

bool ShapeFormulas::JoinBatches(const Node& node) {
  int first = -1;
  bool joined = false;
  for (const tensorflow::Edge* edge : node.in_edges()) {
    const int batch = edge->IsControlEdge() ? -1 : BatchOf(*edge);
    if (first < 0) first = batch;
    if (batch < 0 || batch == first) continue;
    for (Source& source : sources_) {
      if (source.batch == batch) source.batch = first;
    }
    joined = true;
  }
  return joined;
}

std::vector<int> ShapeFormulas::SourcesOf(const Node& node, int batch) const {
  std::vector<int> sources;
  for (size_t i = 0; i < sources_.size(); ++i) {
    if (sources_[i].batch == batch) sources.push_back(i);
  }
  if (sources.size() == 1) return sources;
  const tensorflow::Graph& graph = *graph_;
  std::vector<bool> needed(graph.num_node_ids(), false);
  tensorflow::ReverseDFSFrom(graph, {&node}, [&needed](const Node* before) { needed[before->id()] = true; }, nullptr);
  const auto others = [&](int source) { return !needed[sources_[source].node->id()]; };
  sources.erase(std::remove_if(sources.begin(), sources.end(), others), sources.end());
  return sources;
}

template <typename Expected>
bool ShapeFormulas::Agree(const Sizes& sizes, Expected expected) {
  const auto is = [&](Probe probe) { return sizes[probe] == expected(probe); };
  return is(kRising) && is(kFalling) && is(sizes[kOnes] >= 0 ? kOnes : kTens) && (sizes[kLarge] < 0 || is(kLarge));
}

bool ShapeFormulas::IsFixed(const Sizes& sizes) {
  return sizes[kRising] >= 0 && Agree(sizes, [&](Probe) { return sizes[kRising]; });
}

std::optional<ShapeFormulas::Size> ShapeFormulas::Explain(const Node& node, const Sizes& sizes) {
  if (IsFixed(sizes)) return Size{sizes[kRising], {}};
  for (size_t i = 0; i < sources_.size(); ++i) {
    if (sources_[i].batch != static_cast<int>(i)) continue;
    const int64_t factor = sizes[kRising] / SizeOf(i, kRising);
    if (factor < 1 || !Agree(sizes, [&](Probe probe) { return factor * SizeOf(i, probe); })) continue;
    std::vector<int> sources = SourcesOf(node, i);
    if (!sources.empty()) return Size{factor, std::move(sources)};
  }
  return std::nullopt;
}

InferenceContext* ShapeFormulas::ContextOf(const Node& node, int probe) const {
  return refiners_[probe] != nullptr ? refiners_[probe]->GetContext(&node) : nullptr;
}

ShapeFormulas::Shapes ShapeFormulas::InputShapes(const Node& node, int input) const {
  Shapes shapes;
  for (int probe = 0; probe < kProbes; ++probe) {
    InferenceContext* inference = ContextOf(node, probe);
    if (inference == nullptr) continue;
    const auto* variables = inference->input_handle_shapes_and_types(input);
    if (variables == nullptr) shapes[probe] = inference->input(input);
    if (variables != nullptr && variables->size() == 1) shapes[probe] = (*variables)[0].shape;
  }
  return shapes;
}

ShapeFormulas::Shapes ShapeFormulas::OutputShapes(const Node& node, int output) const {
  Shapes shapes;
  for (int probe = 0; probe < kProbes; ++probe) {
    InferenceContext* inference = ContextOf(node, probe);
    if (inference != nullptr) shapes[probe] = inference->output(output);
  }
  return shapes;
}

ShapeFormulas::Sizes ShapeFormulas::SizesOf(const Shapes& shapes, int dimension) const {
  Sizes sizes;
  sizes.fill(-1);
  const int rank = RankOf(shapes[kRising]);
  if (dimension < -rank || dimension >= rank) return sizes;
  const int from_begin = dimension < 0 ? dimension + rank : dimension;
  for (int probe = 0; probe < kProbes; ++probe) {
    // If all sizes are known, only kRising ran. Otherwise the rank may differ between probes, because of tf.squeeze.
    const ShapeHandle shape = shapes[sources_.empty() ? kRising : probe];
    if (RankOf(shape) == rank)
      sizes[probe] = InferenceContext::Value(InferenceContext::DimKnownRank(shape, from_begin));
  }
  return sizes;
}

bool ShapeFormulas::IsKnown(const Node& node, int output) const {
  InferenceContext* inference = ContextOf(node, kRising);
  return inference != nullptr && inference->FullyDefined(inference->output(output));
}

ShapeFormulas::Sizes ShapeFormulas::SizesOf(const Dimension& place) const {
  const Shapes shapes = place.is_input ? InputShapes(*place.node, place.index) : OutputShapes(*place.node, place.index);
  return SizesOf(shapes, place.dimension);
}

int ShapeFormulas::InputRank(const Node& node, int input) { return RankOf(InputShapes(node, input)[kRising]); }

int64_t ShapeFormulas::FixedInputSize(const Node& node, int input, int dimension) {
  const Sizes sizes = SizesOf(InputShapes(node, input), dimension);
  return IsFixed(sizes) ? sizes[kRising] : -1;
}

bool ShapeFormulas::AreEqual(const Sizes& one, const Sizes& other) {
  return one[kRising] >= 0 && (IsFixed(one) || one[kFalling] >= 0) && one == other;
}

bool ShapeFormulas::HaveEqualSizes(const Node& one, int dimension, const Node& other, int other_dimension) {
  return AreEqual(SizesOf(OutputShapes(one, 0), dimension), SizesOf(OutputShapes(other, 0), other_dimension));
}

bool ShapeFormulas::AreSurelyEqual(const Dimension& one, const Dimension& other) {
  const Sizes sizes = SizesOf(one), other_sizes = SizesOf(other);
  if (!AreEqual(sizes, other_sizes)) return false;
  if (IsFixed(sizes)) return true;
  // Joined batches may differ: one of them may be 1.
  const std::optional<Size> size = Explain(*one.node, sizes), other_size = Explain(*other.node, sizes);
  return size.has_value() && other_size.has_value() && size->sources.size() == 1 &&
         size->sources == other_size->sources;
}

absl::StatusOr<Node*> ShapeFormulas::AddSize(const Source& source) {
  Node*& made = made_[absl::StrCat(source.node->name(), ":", source.output, "[", source.dimension, "]")];
  if (made != nullptr) return made;
  NodeMaker maker(graph_, absl::StrCat(source.node->name(), "/habana_size"), source.node->assigned_device_name());
  Node*& shape = made_[absl::StrCat(source.node->name(), ":", source.output)];
  if (shape == nullptr) {
    tensorflow::NodeBuilder builder = maker.New("shape", "Shape");
    builder.Input(source.node, source.output).Attr("out_type", tensorflow::DT_INT32).Attr(kHostShapeAttr, true);
    HPU_ASSIGN_OR_RETURN(shape, maker.Add(builder));
  }
  HPU_ASSIGN_OR_RETURN(Node * begin, maker.Constant("begin", Int32Vector({source.dimension})));
  HPU_ASSIGN_OR_RETURN(Node * end, maker.Constant("end", Int32Vector({source.dimension + 1})));
  HPU_ASSIGN_OR_RETURN(Node * stride, maker.Constant("stride", Int32Vector({1})));
  tensorflow::NodeBuilder builder = maker.New("size", "StridedSlice");
  builder.Input(shape).Input(begin).Input(end).Input(stride).Attr("shrink_axis_mask", 1).Attr(kHostShapeAttr, true);
  HPU_ASSIGN_OR_RETURN(made, maker.Add(builder));
  return made;
}

absl::StatusOr<Node*> ShapeFormulas::AddSize(const Size& size, const NodeMaker& maker) {
  if (size.sources.empty()) return maker.Constant("size", Int32Scalar(static_cast<int32_t>(size.factor)));
  HPU_ASSIGN_OR_RETURN(Node * number, AddSize(sources_[size.sources[0]]));
  for (size_t i = 1; i < size.sources.size(); ++i) {
    HPU_ASSIGN_OR_RETURN(Node * other, AddSize(sources_[size.sources[i]]));
    tensorflow::NodeBuilder builder = maker.New("greatest", "Maximum");
    HPU_ASSIGN_OR_RETURN(number, maker.Add(builder.Input(number).Input(other).Attr(kHostShapeAttr, true)));
  }
  if (size.factor == 1) return number;
  HPU_ASSIGN_OR_RETURN(Node * factor, maker.Constant("factor", Int32Scalar(static_cast<int32_t>(size.factor))));
  tensorflow::NodeBuilder builder = maker.New("multiple", "Mul");
  return maker.Add(builder.Input(number).Input(factor).Attr(kHostShapeAttr, true));
}

absl::StatusOr<std::optional<Node*>> ShapeFormulas::ShapeOf(const Node& node, int output, const std::string& device,
                                                            Need need) {
  const Shapes shapes = OutputShapes(node, output);
  const int rank = RankOf(shapes[kRising]);
  if (rank < 0) return std::nullopt;
  std::vector<Size> sizes;
  std::string formula = absl::StrCat(device, ":");
  for (int i = 0; i < rank; ++i) {
    std::optional<Size> size = Explain(node, SizesOf(shapes, i));
    if (!size.has_value() || (need == Need::kExact && size->sources.size() > 1)) return std::nullopt;
    absl::StrAppend(&formula, size->factor, "*", absl::StrJoin(size->sources, "|"), ",");
    sizes.push_back(*std::move(size));
  }
  Node*& made = made_[formula];
  if (made != nullptr) return made;
  const NodeMaker maker(graph_, absl::StrCat(node.name(), "/habana_shape"), device);
  if (absl::c_all_of(sizes, [](const Size& size) { return size.sources.empty(); })) {
    tensorflow::Tensor shape(tensorflow::DT_INT32, {rank});
    for (int i = 0; i < rank; ++i) shape.flat<int32_t>()(i) = static_cast<int32_t>(sizes[i].factor);
    HPU_ASSIGN_OR_RETURN(made, maker.Constant("fixed", shape));
    return made;
  }
  std::vector<tensorflow::NodeBuilder::NodeOut> parts;
  for (const Size& size : sizes) {
    HPU_ASSIGN_OR_RETURN(Node * part, AddSize(size, maker));
    parts.emplace_back(part);
  }
  tensorflow::NodeBuilder builder = maker.New("pack", "Pack");
  builder.Input(parts).Attr("N", rank).Attr("axis", 0).Attr(kHostShapeAttr, true);
  HPU_ASSIGN_OR_RETURN(made, maker.Add(builder));
  return made;
}

}  // namespace hpu::passes
