// Check of a node's shapes: infers the sizes of its results, and compares them with the tensors.
//
// Written from the definitions of the nodes, independently of the kernels, so that rules and kernels check each other.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_SHAPES_SHAPE_CHECK_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_SHAPES_SHAPE_CHECK_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "plugin/testing/synapse_double/graph/node.h"
#include "plugin/testing/synapse_double/graph/verdict.h"

namespace hpu::synapse_double {

class ShapeCheck {
 public:
  explicit ShapeCheck(const Node& node) : node_(node) {}

  // Numbers of slots, including the slots of shape tensors and of missing operands.
  size_t input_count() const { return node_.inputs.size(); }
  size_t output_count() const { return node_.outputs.size(); }
  bool has_input(size_t i) const { return i < input_count() && node_.inputs[i] != nullptr; }
  bool has_output(size_t i) const { return i < output_count() && node_.outputs[i] != nullptr; }
  const Tensor& input(size_t i) const { return *node_.inputs[i]; }
  const Tensor& output(size_t i) const { return *node_.outputs[i]; }
  const Sizes& in(size_t i) const { return input(i).sizes; }
  const Sizes& out(size_t i) const { return output(i).sizes; }

  size_t params_size() const { return node_.params.size(); }
  // The params, with the values of `defaults` for the members that a shorter version lacks.
  template <typename Params>
  Params params(Params defaults = {}) const {
    static_assert(std::is_trivially_copyable_v<Params>);
    std::memcpy(&defaults, node_.params.data(), std::min(sizeof(Params), node_.params.size()));
    return defaults;
  }

  // Records a failure, with the parts joined as its text, unless `condition` is true. Returns `condition`.
  template <typename... Parts>
  bool Require(bool condition, const Parts&... parts) {
    if (!condition && error_.empty()) error_ = Text(parts...);
    return condition;
  }
  bool RequireAxis(int64_t axis, size_t rank) {
    return Require(axis >= 0 && axis < static_cast<int64_t>(rank), "axis ", axis, " is out of range for rank ", rank);
  }
  // Requires the sizes of a result. Does nothing for a result that is missing.
  bool RequireOutput(size_t i, const Sizes& expected) {
    return !has_output(i) ||
           Require(out(i) == expected, "output ", i, ": expected sizes ", TextOf(expected), ", found ", TextOf(out(i)));
  }
  // Requires the sizes of an operand. Does nothing for an operand that is missing.
  bool RequireInput(size_t i, const Sizes& expected) {
    return !has_input(i) ||
           Require(in(i) == expected, "input ", i, ": expected sizes ", TextOf(expected), ", found ", TextOf(in(i)));
  }
  bool RequireInputElements(size_t i, int64_t expected) {
    return !has_input(i) || Require(ElementCount(in(i)) == expected, "input ", i, ": expected ", expected,
                                    " elements, found ", TextOf(in(i)));
  }
  // Requires that a shape tensor among the operands has these sizes.
  bool RequireShapeTensor(size_t i, const Sizes& expected) { return RequireInput(i, expected); }

  const std::string& error() const { return error_; }

 private:
  const Node& node_;
  std::string error_;
};

using ShapeRule = void (*)(ShapeCheck&);

struct NamedShapeRule {
  std::string_view stem;  // of a guid
  ShapeRule rule;
};

// Rules of one family of guids.
using ShapeRules = std::vector<NamedShapeRule>;
ShapeRules ProductShapes();
ShapeRules ConvolutionShapes();
ShapeRules MovementShapes();
ShapeRules SliceShapes();
ShapeRules ElementwiseShapes();
ShapeRules ReductionShapes();
ShapeRules NormalizationShapes();
ShapeRules PoolingShapes();
ShapeRules IndexingShapes();

// The rule of a guid's stem; null if the double does not infer its shapes.
ShapeRule FindShapeRule(std::string_view stem);

// Sizes to which the operands broadcast. Records a failure if they do not.
bool BroadcastOf(ShapeCheck& check, const std::vector<size_t>& inputs, Sizes* sizes);

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_SHAPES_SHAPE_CHECK_H_
