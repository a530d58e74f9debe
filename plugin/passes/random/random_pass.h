// Rewriting of random ops, so that compiled code draws the same numbers as TensorFlow's CPU kernels.
#ifndef HPU_PLUGIN_PASSES_RANDOM_RANDOM_PASS_H_
#define HPU_PLUGIN_PASSES_RANDOM_RANDOM_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Replaces random ops on an HPU so that clusters can hold the drawing but not the state:
//
//   stateful  RandomUniform, RandomStandardNormal, RandomUniformInt   state: HabanaPhiloxState, outside the cluster
//   stateless …V2 of the same                                         state: their key and counter
//   stateless first versions                                          state: StatelessRandomGetKeyCounter, outside
//
// Multinomial and StatelessMultinomial become arithmetic (categorical_sampling.h) if a constant sets the number of
// samples and the number of classes is known. RandomShuffle becomes a GatherV2, which clusters can hold, and a
// HabanaRandomOrder outside, which draws the order of the rows. That excludes int32, and shapes that are not known
// outside.
//
// The numbers come from StatelessRandomUniformFullIntV2, whose integers XLA draws bit for bit as the CPU does. The CPU
// kernels' arithmetic, as plain ops, turns them into floating-point numbers, because XLA's own conversion uses other
// bits. Uniform numbers equal the CPU's bit for bit. Normal numbers, and the sums that select categories, equal them up
// to rounding. Categories match those of the CPU with one thread; with more threads its kernel draws some words twice.
//
// The last node of each replacement has the replaced node's name and edges. Ops and dtypes without a replacement stay
// unchanged and outside clusters.
absl::Status RewriteRandomOps(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_RANDOM_RANDOM_PASS_H_
