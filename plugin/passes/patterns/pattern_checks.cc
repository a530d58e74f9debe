#include "plugin/passes/patterns/pattern_checks.h"

#include <iterator>

#include "absl/algorithm/container.h"
#include "plugin/passes/analysis/constant_value.h"
#include "tensorflow/core/framework/tensor.h"

namespace hpu::passes {
namespace {

using tensorflow::AttrValue;
using tensorflow::Node;
using NumberList = std::vector<int64_t>;

bool IsScalar(const PatternMatch& match, std::string_view name) {
  const AttrValue* value = match.FindAttr(name);
  return value != nullptr && value->has_tensor() && value->tensor().tensor_shape().dim_size() == 0;
}

NumberList NumbersOf(const PatternMatch& match, std::string_view name) {
  const AttrValue* value = match.FindAttr(name);
  return value == nullptr ? NumberList() : WholeNumbersOf(*value);
}

NumberList ConstantNumbers(const Node& node) {
  const AttrValue* value = node.IsConstant() ? node.attrs().Find("value") : nullptr;
  return value == nullptr ? NumberList() : WholeNumbersOf(*value);
}

const Node* InputNode(const Node& node, int index) {
  const Node* input = nullptr;
  return node.input_node(index, &input).ok() ? input : nullptr;
}

// Whether mean and variance are computed over the whole image, for each sample and channel.
bool AreOfImages(const PatternMatch& match) {
  const NumberList axes = NumbersOf(match, "axes");
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != static_cast<int64_t>(i) + 1) return false;
  }
  // A Reshape of the weights means layer normalisation over several axes.
  return axes.size() >= 2 && match.Find("gamma")->node->type_string() != "Reshape";
}

// The rank of x in a gradient, from its constant $multiples; 0 if unknown.
int64_t KnownRank(const PatternMatch& match) { return static_cast<int64_t>(NumbersOf(match, "multiples").size()); }

bool SameAxes(NumberList axes, NumberList sum_axes, int64_t rank) {
  for (NumberList* numbers : {&axes, &sum_axes}) {
    for (int64_t& axis : *numbers) axis += axis < 0 ? rank : 0;
    absl::c_sort(*numbers);
  }
  // Without the rank, negative axes cannot be compared, so only the number of axes must be equal.
  const bool countable = rank > 0 || absl::c_all_of(axes, [](int64_t axis) { return axis >= 0; });
  return countable ? axes == sum_axes : axes.size() == sum_axes.size();
}

bool IsMean(const PatternMatch& match) {
  const AttrValue* share = match.FindAttr("share");
  if (share == nullptr) return true;  // the match contains the division by a count
  double size = 1;
  for (const int64_t multiple : NumbersOf(match, "multiples")) size *= static_cast<double>(multiple);
  const std::optional<double> value = NumberOf(*share);
  return value.has_value() && IsAbout(*value, 1 / size, share->tensor().dtype());
}

bool IsNormGrad(const PatternMatch& match) {
  return IsMean(match) && SameAxes(NumbersOf(match, "axes"), NumbersOf(match, "sum_axes"), KnownRank(match));
}

// Whether `axes` and $batch_axes together contain each dimension exactly once. `rank` is 0 if unknown.
bool AreAllSummed(const PatternMatch& match, NumberList axes, int64_t rank) {
  absl::c_copy(NumbersOf(match, "batch_axes"), std::back_inserter(axes));
  absl::c_sort(axes);
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != static_cast<int64_t>(i)) return false;
  }
  return rank == 0 || rank == static_cast<int64_t>(axes.size());
}

// Whether all consumers of a value reshape it to constant shapes, so that its own shape does not matter. True for
// values without a match.
bool IsReshaped(const PatternMatch& match, std::string_view name) {
  const Output* value = match.Find(name);
  return value == nullptr || absl::c_all_of(value->node->out_edges(), [](const tensorflow::Edge* edge) {
           if (edge->IsControlEdge()) return true;
           return edge->dst()->type_string() == "Reshape" && edge->dst_input() == 0 &&
                  InputNode(*edge->dst(), 1)->IsConstant();
         });
}

// Adds the paddings to the match. Returns false unless the data format is NHWC and only height and width are padded.
bool CapturePaddings(const NumberList& paddings, PatternMatch* match) {
  const AttrValue* format = match->FindAttr("data_format");
  // The CPU fallback of a cluster transposes NCHW only for TensorFlow's own ops, not for fused ops.
  if (paddings.size() != 8 || format == nullptr || format->s() != "NHWC") return false;
  if (paddings[0] != 0 || paddings[1] != 0 || paddings[6] != 0 || paddings[7] != 0) return false;
  if (absl::c_any_of(paddings, [](int64_t size) { return size < 0; })) return false;
  if (match->FindAttr("paddings") != nullptr) return true;
  AttrValue value;
  for (const int64_t size : paddings) value.mutable_list()->add_i(size);
  match->attrs.emplace_back("paddings", value);
  return true;
}

// The axes first ... rank-1; none if first >= rank.
struct LastAxes {
  int64_t first = 0;
  int64_t rank = 0;
};

// The normalised axes, if x of constant $shape is reshaped to constant $flat_shape: [1, n, m, 1].
LastAxes KnownFlatAxes(const PatternMatch& match) {
  const NumberList flat = NumbersOf(match, "flat_shape");
  const NumberList shape = NumbersOf(match, "shape");
  if (flat.size() != 4 || flat[0] != 1 || flat[3] != 1) return {};
  const int64_t rank = static_cast<int64_t>(shape.size());
  int64_t first = rank;
  int64_t size = 1;
  while (first > 0 && (first == rank || size < flat[2])) size *= shape[--first];
  int64_t rest = 1;
  for (int64_t i = 0; i < first; ++i) rest *= shape[i];
  return size == flat[2] && rest == flat[1] ? LastAxes{first, rank} : LastAxes{};
}

// The normalised axes of x, if the graph computes the flat shape: m is the product of the dimensions from $first on.
LastAxes ComputedFlatAxes(const PatternMatch& match) {
  const NumberList first = NumbersOf(match, "first");
  const Output& x = *match.Find("x");
  const tensorflow::PartialTensorShape shape = match.shapes->Get().Shape(*x.node, x.index);
  if (first.size() != 1 || first[0] <= 0 || shape.unknown_rank()) return {};
  return {first[0], shape.dims()};
}

}  // namespace

bool CheckLayerNorm(PatternMatch* match) { return IsScalar(*match, "epsilon") && !AreOfImages(*match); }

bool CheckInstanceNorm(PatternMatch* match) { return IsScalar(*match, "epsilon") && AreOfImages(*match); }

bool CheckLayerNormGrad(PatternMatch* match) {
  if (!CheckLayerNorm(match) || !IsNormGrad(*match)) return false;
  if (match->FindAttr("batch_axes") == nullptr) return true;
  return AreAllSummed(*match, NumbersOf(*match, "sum_axes"), KnownRank(*match)) && IsReshaped(*match, "dbeta") &&
         IsReshaped(*match, "dgamma");
}

bool CheckFlatNorm(PatternMatch* match) {
  const bool known = match->FindAttr("flat_shape") != nullptr;
  const auto [first, rank] = known ? KnownFlatAxes(*match) : ComputedFlatAxes(*match);
  if (first >= rank) return false;
  tensorflow::Tensor axes(tensorflow::DT_INT32, {rank - first});
  for (int64_t i = 0; i < axes.NumElements(); ++i) axes.flat<int32_t>()(i) = static_cast<int32_t>(first + i);
  if (match->FindAttr("axes") == nullptr) {
    AttrValue value;
    axes.AsProtoField(value.mutable_tensor());
    match->attrs.emplace_back("axes", value);
  }
  if (match->FindAttr("weight_shape") == nullptr) return true;
  return AreAllSummed(*match, NumbersOf(*match, "axes"), rank) && NumbersOf(*match, "weight_shape").size() == 1;
}

bool CheckInstanceNormGrad(PatternMatch* match) {
  if (!CheckInstanceNorm(match) || !IsNormGrad(*match)) return false;
  if (match->FindAttr("weight_shape") == nullptr) return true;
  // One weight for each channel: $batch_axes must contain the batch and exclude the channels. Image dimensions already
  // have size 1.
  const NumberList batch = NumbersOf(*match, "batch_axes");
  const int64_t channels = static_cast<int64_t>(NumbersOf(*match, "axes").size()) + 1;
  return absl::c_linear_search(batch, 0) && absl::c_all_of(batch, [&](int64_t axis) { return axis < channels; }) &&
         NumbersOf(*match, "weight_shape").size() == 1;
}

bool CheckBatchNorm(PatternMatch* match) {
  const Output& x = *match->Find("x");
  const auto shape_of = [&](const Output& value) { return match->shapes->Get().Shape(*value.node, value.index); };
  if (!IsScalar(*match, "epsilon") || NumbersOf(*match, "axes") != NumberList{0, 1, 2}) return false;
  if (x.node->output_type(x.index) != tensorflow::DT_FLOAT || shape_of(x).dims() != 4) return false;
  const tensorflow::PartialTensorShape mean = shape_of(*match->Find("mean"));
  return mean.dims() == 1 && mean.IsFullyDefined() &&
         absl::c_all_of(std::vector<std::string_view>{"beta", "gamma"}, [&](std::string_view name) {
           const Output* weights = match->Find(name);
           return weights == nullptr || mean.IsIdenticalTo(shape_of(*weights));
         });
}

bool CheckBatchNormGrad(PatternMatch* match) {
  const NumberList kept = NumbersOf(*match, "kept_shape");
  if (kept.size() != 4 || kept[0] * kept[1] * kept[2] != 1) return false;
  return CheckBatchNorm(match) && IsNormGrad(*match) && NumbersOf(*match, "weight_shape").size() == 1;
}

bool CheckScale(PatternMatch* match) { return IsScalar(*match, "scale") && IsScalar(*match, "rate"); }

bool CheckRange(PatternMatch* match) { return IsScalar(*match, "min") && IsScalar(*match, "max"); }

bool CheckPaddings(PatternMatch* match) { return CapturePaddings(NumbersOf(*match, "paddings"), match); }

bool CheckPaddedInputGrad(PatternMatch* match) {
  const NumberList begin = NumbersOf(*match, "begin");
  const Node& sizes = *match->Find("sizes")->node;
  const Node& padded_sizes = *match->Find("padded_sizes")->node;
  const NumberList inner = ConstantNumbers(sizes);
  const NumberList outer = ConstantNumbers(padded_sizes);
  NumberList paddings;
  if (begin.size() != 4) return false;
  if (inner.size() == 4 && outer.size() == 4) {
    for (int i = 0; i < 4; ++i) paddings.insert(paddings.end(), {begin[i], outer[i] - inner[i] - begin[i]});
    return CapturePaddings(paddings, match);
  }
  // Sizes are not constant: accepts Shape ops of the input before and after a Pad.
  const Node* pad =
      padded_sizes.num_inputs() > 0 ? InputNode(padded_sizes, match->Find("padded_sizes")->index) : nullptr;
  if (pad == nullptr || pad->type_string() != "Pad" || sizes.type_string() != "Shape") return false;
  if (padded_sizes.type_string() != "Shape" && padded_sizes.type_string() != "ShapeN") return false;
  if (InputNode(sizes, 0) != InputNode(*pad, 0)) return false;
  paddings = ConstantNumbers(*InputNode(*pad, 1));
  for (int i = 0; i < 4 && paddings.size() == 8; ++i) {
    if (begin[i] != paddings[2 * i]) return false;
  }
  return CapturePaddings(paddings, match);
}

}  // namespace hpu::passes
