#include "plugin/passes/analysis/known_numbers.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include "plugin/passes/analysis/constant_value.h"
#include "plugin/passes/analysis/shape_formulas.h"
#include "plugin/passes/functions/loop_functions.h"
#include "plugin/passes/graph/graph_util.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {
namespace {

using tensorflow::Node;

bool HasMasks(const Node& slice, int64_t shrink) {
  constexpr std::pair<const char*, bool> kMasks[] = {{"begin_mask", false},
                                                     {"end_mask", false},
                                                     {"ellipsis_mask", false},
                                                     {"new_axis_mask", false},
                                                     {"shrink_axis_mask", true}};
  return std::all_of(std::begin(kMasks), std::end(kMasks), [&](const auto& mask) {
    int64_t value = 0;
    return tensorflow::GetNodeAttr(slice.attrs(), mask.first, &value).ok() && value == (mask.second ? shrink : 0);
  });
}

}  // namespace

std::optional<int32_t> ConstantScalar(const Node* node) {
  if (node == nullptr) return std::nullopt;
  const std::optional<tensorflow::Tensor> value = ConstantOf(*node);
  if (!value.has_value() || value->dtype() != tensorflow::DT_INT32 || value->NumElements() != 1) return std::nullopt;
  return value->flat<int32_t>()(0);
}

std::optional<SizeOfTensor> SizeReadBy(const Node& node) {
  if (node.type_string() != "StridedSlice" || !HasMasks(node, /*shrink=*/1)) return std::nullopt;
  const Node* const shape = SourceOf(node, 0);
  const std::optional<int32_t> index = ConstantScalar(SourceOf(node, 1));
  if (shape == nullptr || shape->type_string() != "Shape" || index.value_or(-1) < 0) return std::nullopt;
  const Node* const tensor = SourceOf(*shape, 0);
  if (tensor == nullptr || tensor->num_outputs() != 1) return std::nullopt;
  return SizeOfTensor{tensor, *index};
}

Sum SumOf(const Node& node) {
  const std::string& op = node.type_string();
  const bool plus = op == "AddV2" || op == "Add";
  if ((!plus && op != "Sub") || node.output_type(0) != tensorflow::DT_INT32) return {&node};
  const Node *const a = SourceOf(node, 0), *const b = SourceOf(node, 1);
  if (const std::optional<int32_t> number = ConstantScalar(b)) return {a, plus ? *number : -int64_t{*number}};
  if (const std::optional<int32_t> number = ConstantScalar(a); plus && number.has_value()) return {b, *number};
  return {&node};
}

std::optional<int64_t> KnownNumbers::Scalar(const Node* node) {
  if (const std::optional<int32_t> constant = ConstantScalar(node)) return constant;
  if (node == nullptr) return std::nullopt;
  if (const Sum sum = SumOf(*node); sum.source != node) {
    const std::optional<int64_t> number = Scalar(sum.source);
    const bool fits = number.has_value() && std::abs(*number + sum.added) <= std::numeric_limits<int32_t>::max();
    return fits ? std::optional<int64_t>(*number + sum.added) : std::nullopt;
  }
  if (node->type_string() != "StridedSlice" || !HasMasks(*node, /*shrink=*/1)) return std::nullopt;
  const Node* vector = SourceOf(*node, 0);
  const std::optional<int32_t> index = ConstantScalar(SourceOf(*node, 1));
  if (vector == nullptr || !index.has_value()) return std::nullopt;
  if (vector->type_string() == "Shape") {
    const int64_t size = SizeOfInput(*vector, 0, *index);
    return size >= 0 ? std::optional<int64_t>(size) : std::nullopt;
  }
  std::vector<int64_t> elements;
  if (vector->IsConstant()) elements = WholeNumbersOf(*vector->attrs().Find("value"));
  const int64_t place = *index < 0 ? *index + static_cast<int64_t>(elements.size()) : *index;
  if (place < 0 || place >= static_cast<int64_t>(elements.size()) || elements[place] < 0) return std::nullopt;
  return elements[place];
}

int64_t KnownNumbers::SizeOfInput(const Node& node, int input, int dimension) {
  const tensorflow::PartialTensorShape shape = shapes_.Get().InputShape(node, input);
  if (shape.dims() < 0) return -1;
  const int place = dimension < 0 ? dimension + shape.dims() : dimension;
  if (place < 0 || place >= shape.dims()) return -1;
  return shape.dim_size(place) >= 0 ? shape.dim_size(place) : SizesOfInput(node, input)[place];
}

bool KnownNumbers::AreEqual(const SizeOfTensor& one, const SizeOfTensor& other) const {
  if (one.node == other.node) return one.dimension == other.dimension;
  ShapeFormulas formulas(graph_, {const_cast<Node*>(one.node), const_cast<Node*>(other.node)},
                         ShapeFormulas::Stacks::kSources);
  return formulas.HaveEqualSizes(*one.node, one.dimension, *other.node, other.dimension);
}

const std::vector<int64_t>& KnownNumbers::SizesOfInput(const Node& node, int input) {
  const auto [found, is_new] = sizes_.try_emplace({&node, input});
  std::vector<int64_t>& sizes = found->second;
  const tensorflow::PartialTensorShape shape = shapes_.Get().InputShape(node, input);
  if (!is_new || shape.dims() < 0) return sizes;
  for (int i = 0; i < shape.dims(); ++i) sizes.push_back(shape.dim_size(i));
  if (shape.IsFullyDefined()) return sizes;
  ShapeFormulas formulas(graph_, {const_cast<Node*>(&node)}, ShapeFormulas::Stacks::kSources);
  for (int i = 0; i < shape.dims(); ++i) {
    if (sizes[i] < 0) sizes[i] = formulas.FixedInputSize(node, input, i);
  }
  return sizes;
}

}  // namespace hpu::passes
