// Lowering of random numbers with hidden state, which fails. hlo_preparation.h expands other generators to arithmetic.
#include "absl/status/status.h"
#include "plugin/backends/gaudi/lowerings/lowerings.h"

namespace hpu::gaudi {
namespace {

// XLA expands rng to a generator with state in the executable, which recipes cannot keep.
absl::Status RefuseHiddenState(Lowering& lowering, const xla::HloInstruction& instruction) {
  return absl::UnimplementedError(
      "Gaudi does not support random numbers with hidden state: a recipe keeps no state between launches; use "
      "tf.random.stateless_* or tf.random.Generator");
}

}  // namespace

void AddRandom(LowerTable* table) { (*table)[xla::HloOpcode::kRngGetAndUpdateState] = RefuseHiddenState; }

}  // namespace hpu::gaudi
