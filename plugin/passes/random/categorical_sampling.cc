#include "plugin/passes/random/categorical_sampling.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "plugin/base/status_macros.h"

namespace hpu::passes {
namespace {

using tensorflow::DataType;
using tensorflow::Node;
using tensorflow::NodeBuilder;
using tensorflow::Tensor;

Tensor Int32s(const std::vector<int32_t>& numbers) {
  Tensor tensor(tensorflow::DT_INT32, {static_cast<int64_t>(numbers.size())});
  std::copy(numbers.begin(), numbers.end(), tensor.flat<int32_t>().data());
  return tensor;
}

// Adds nodes that draw two random words for each sample: [rows, samples, 2].
absl::StatusOr<Node*> AddWords(const NodeMaker& maker, const CategoricalSampling& draw) {
  NodeBuilder shape_builder = maker.New("shape", "Shape");
  HPU_ASSIGN_OR_RETURN(Node * shape, maker.Add(shape_builder.Input(draw.logits)));
  HPU_ASSIGN_OR_RETURN(Node * first, maker.Constant("first", Int32s({0})));
  HPU_ASSIGN_OR_RETURN(Node * one, maker.Constant("one", Int32s({1})));
  NodeBuilder slice = maker.New("rows", "Slice");
  HPU_ASSIGN_OR_RETURN(Node * rows, maker.Add(slice.Input(shape).Input(first).Input(one)));
  HPU_ASSIGN_OR_RETURN(Node * each, maker.Constant("each", Int32s({static_cast<int32_t>(draw.samples), 2})));
  HPU_ASSIGN_OR_RETURN(Node * axis, maker.Constant("shape_axis", Tensor(int32_t{0})));
  NodeBuilder concat = maker.New("words_shape", "ConcatV2");
  concat.Input(std::vector<NodeBuilder::NodeOut>{rows, each}).Input(axis);
  HPU_ASSIGN_OR_RETURN(Node * words_shape, maker.Add(concat));
  HPU_ASSIGN_OR_RETURN(Node * philox, maker.Constant("alg", Tensor(int32_t{1})));
  NodeBuilder words = maker.New("words", "StatelessRandomUniformFullIntV2");
  words.Input(words_shape).Input(draw.key).Input(draw.counter).Input(philox).Attr("dtype", tensorflow::DT_UINT32);
  return maker.Add(words);
}

// Adds nodes for float64 fractions in [0, 1), [rows, samples]. The 52 bits of a fraction are the lowest 20 bits of the
// first word, followed by the second word.
absl::StatusOr<Node*> AddFractions(const NodeMaker& maker, const CategoricalSampling& draw) {
  HPU_ASSIGN_OR_RETURN(Node * words, AddWords(maker, draw));
  Tensor masks(tensorflow::DT_UINT32, {2}), units(tensorflow::DT_DOUBLE, {2});
  masks.flat<uint32_t>()(0) = 0xfffff;
  masks.flat<uint32_t>()(1) = 0xffffffff;
  units.flat<double>()(0) = 0x1p-20;
  units.flat<double>()(1) = 0x1p-52;
  HPU_ASSIGN_OR_RETURN(Node * mask, maker.Constant("masks", masks));
  HPU_ASSIGN_OR_RETURN(Node * used, maker.Binary("used", "BitwiseAnd", words, mask));
  HPU_ASSIGN_OR_RETURN(Node * numbers, maker.Cast("numbers", used, tensorflow::DT_DOUBLE));
  HPU_ASSIGN_OR_RETURN(Node * unit, maker.Constant("units", units));
  HPU_ASSIGN_OR_RETURN(Node * parts, maker.Binary("parts", "Mul", numbers, unit));
  HPU_ASSIGN_OR_RETURN(Node * axis, maker.Constant("parts_axis", Tensor(int32_t{2})));
  return maker.Binary("fractions", "Sum", parts, axis);
}

// Adds the cumulative sums of exp(logit - maximum): float64 [rows, classes].
absl::StatusOr<Node*> AddSums(const NodeMaker& maker, const CategoricalSampling& draw) {
  NodeBuilder::NodeOut logits = draw.logits;
  // Logits narrower than float64 are compared in float32, which is faster. All values after the maximum are float64.
  DataType type = logits.node->output_type(logits.index);
  if (type != tensorflow::DT_DOUBLE && type != tensorflow::DT_FLOAT) {
    type = tensorflow::DT_FLOAT;
    HPU_ASSIGN_OR_RETURN(Node * narrow, maker.Cast("float32", logits, type));
    logits = NodeBuilder::NodeOut(narrow, 0);
  }
  const Tensor lowest = type == tensorflow::DT_DOUBLE ? Tensor(std::numeric_limits<double>::lowest())
                                                      : Tensor(std::numeric_limits<float>::lowest());
  NodeBuilder is_finite = maker.New("is_finite", "IsFinite");
  HPU_ASSIGN_OR_RETURN(Node * finite, maker.Add(is_finite.Input(logits)));
  HPU_ASSIGN_OR_RETURN(Node * lowest_logit, maker.Constant("lowest", lowest));
  NodeBuilder select = maker.New("finite", "SelectV2");
  HPU_ASSIGN_OR_RETURN(Node * counted, maker.Add(select.Input(finite).Input(logits).Input(lowest_logit)));
  HPU_ASSIGN_OR_RETURN(Node * axis, maker.Constant("axis", Tensor(int32_t{1})));
  NodeBuilder max = maker.New("max", "Max");
  HPU_ASSIGN_OR_RETURN(Node * greatest, maker.Add(max.Input(counted).Input(axis).Attr("keep_dims", true)));
  if (type != tensorflow::DT_DOUBLE) {
    HPU_ASSIGN_OR_RETURN(counted, maker.Cast("wide", counted, tensorflow::DT_DOUBLE));
    HPU_ASSIGN_OR_RETURN(greatest, maker.Cast("wide_max", greatest, tensorflow::DT_DOUBLE));
  }
  HPU_ASSIGN_OR_RETURN(Node * difference, maker.Binary("difference", "Sub", counted, greatest));
  NodeBuilder exp = maker.New("exp", "Exp");
  HPU_ASSIGN_OR_RETURN(Node * exponential, maker.Add(exp.Input(difference)));
  HPU_ASSIGN_OR_RETURN(Node * none, maker.Constant("none", Tensor(0.0)));
  NodeBuilder weigh = maker.New("weights", "SelectV2");
  HPU_ASSIGN_OR_RETURN(Node * weights, maker.Add(weigh.Input(finite).Input(exponential).Input(none)));
  return maker.Binary("sums", "Cumsum", weights, axis);
}

}  // namespace

int64_t WordsOfCategories(int64_t samples) { return (samples + 3) / 4 * 4 * 2; }

absl::StatusOr<Node*> AddCategories(const NodeMaker& maker, const CategoricalSampling& draw) {
  HPU_ASSIGN_OR_RETURN(Node * sums, AddSums(maker, draw));
  HPU_ASSIGN_OR_RETURN(Node * first, maker.Constant("begin", Int32s({0, -1})));
  HPU_ASSIGN_OR_RETURN(Node * end, maker.Constant("end", Int32s({0, 0})));
  HPU_ASSIGN_OR_RETURN(Node * strides, maker.Constant("strides", Int32s({1, 1})));
  NodeBuilder slice = maker.New("total", "StridedSlice");  // sums[:, -1:]
  slice.Input(sums).Input(first).Input(end).Input(strides).Attr("begin_mask", 1).Attr("end_mask", 3);
  HPU_ASSIGN_OR_RETURN(Node * total, maker.Add(slice));
  HPU_ASSIGN_OR_RETURN(Node * fractions, AddFractions(maker, draw));
  HPU_ASSIGN_OR_RETURN(Node * drawn, maker.Binary("drawn", "Mul", fractions, total));
  NodeBuilder search = maker.New("categories", "UpperBound");
  HPU_ASSIGN_OR_RETURN(Node * categories,
                       maker.Add(search.Input(sums).Input(drawn).Attr("out_type", tensorflow::DT_INT32)));
  return draw.type == tensorflow::DT_INT32 ? categories : maker.Cast("cast", categories, draw.type);
}

}  // namespace hpu::passes
