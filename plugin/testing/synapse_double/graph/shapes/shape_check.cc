#include "plugin/testing/synapse_double/graph/shapes/shape_check.h"

#include <unordered_map>

namespace hpu::synapse_double {

ShapeRule FindShapeRule(std::string_view stem) {
  static const auto* const rules = [] {
    auto* all = new std::unordered_map<std::string_view, ShapeRule>;
    for (const auto& family :
         {ProductShapes(), ConvolutionShapes(), MovementShapes(), SliceShapes(), ElementwiseShapes(), ReductionShapes(),
          NormalizationShapes(), PoolingShapes(), IndexingShapes()}) {
      for (const NamedShapeRule& named : family) all->emplace(named.stem, named.rule);
    }
    return all;
  }();
  const auto found = rules->find(stem);
  return found == rules->end() ? nullptr : found->second;
}

bool BroadcastOf(ShapeCheck& check, const std::vector<size_t>& inputs, Sizes* sizes) {
  sizes->clear();
  for (const size_t i : inputs) {
    if (!check.has_input(i)) continue;
    const Sizes& operand = check.in(i);
    if (operand.size() > sizes->size()) sizes->resize(operand.size(), 1);
    for (size_t d = 0; d < operand.size(); ++d) {
      int64_t& size = (*sizes)[d];
      if (!check.Require(size == operand[d] || size == 1 || operand[d] == 1, "input ", i, ": sizes ", TextOf(operand),
                         " do not broadcast to ", TextOf(*sizes))) {
        return false;
      }
      if (size == 1) size = operand[d];
    }
  }
  return true;
}

}  // namespace hpu::synapse_double
