#include "plugin/backends/gaudi/lowerings/lowerings.h"

namespace hpu::gaudi {

LowerFunction FindLowering(xla::HloOpcode opcode) {
  static const auto* const table = [] {
    auto* all = new LowerTable;
    AddElementwise(all);
    AddIntegers(all);
    AddConversions(all);
    AddRandom(all);
    AddMovement(all);
    AddProducts(all);
    AddReductions(all);
    AddGathers(all);
    AddScatters(all);
    AddSorts(all);
    AddDynamicSlices(all);
    AddConvolutions(all);
    AddWindows(all);
    AddBatchNormalization(all);
    AddComposites(all);
    return all;
  }();
  const auto found = table->find(opcode);
  return found == table->end() ? nullptr : found->second;
}

}  // namespace hpu::gaudi
