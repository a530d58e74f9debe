// Casts: cast_<source>_to_<destination>.
//
// A float that the destination cannot hold, and NaN, become the smallest signed or the largest unsigned integer: a
// card's result is unknown. Integers keep their low bits.
#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/testing/synapse_double/kernels/elementwise.h"
#include "plugin/testing/synapse_double/kernels/families.h"

namespace hpu::synapse_double {
namespace {

namespace casts = synapse::ns_CastKernel;

void Cast(KernelContext& context) {
  const casts::Params defaults = {casts::CAST_ROUND_DEFAULT};
  auto mode = static_cast<RoundMode>(context.params(defaults).round_mode);
  if (mode == RoundMode::kDefault) mode = RoundMode::kHalfToEven;
  const bool is_known = mode == RoundMode::kHalfToEven || mode == RoundMode::kDown || mode == RoundMode::kUp ||
                        mode == RoundMode::kToZero || mode == RoundMode::kHalfAwayFromZero;
  if (!context.Require(is_known, "round mode ", static_cast<int32_t>(mode), ": unknown, or stochastic")) return;
  const ElementType to = context.output(0).type;
  if (IsFloat(to)) {
    ComputeUnary(context, [&](auto x) { return RoundToFloat(ToDouble(x), to, mode); });
    return;
  }
  ComputeUnary(context, [&](auto x) {
    if constexpr (std::is_integral_v<decltype(x)>) {
      return x;
    } else {
      return RoundToInteger(x, mode);
    }
  });
}

}  // namespace

void AddCasts(KernelRegistry* registry) {
  registry->Add({"cast",
                 Suffix::kCast,
                 {1, 1},
                 {1, 1},
                 {0, sizeof(casts::Params), sizeof(casts::ParamsV2), sizeof(casts::ParamsV3), sizeof(casts::ParamsV4)},
                 Cast});
}

}  // namespace hpu::synapse_double
