// Rewriting of random ops, so that compiled code generates the same numbers as TensorFlow's CPU kernels.
#ifndef HPU_PLUGIN_PASSES_RANDOM_RANDOM_PASS_H_
#define HPU_PLUGIN_PASSES_RANDOM_RANDOM_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Splits a random op on an HPU into generator state and number generation. A cluster can contain the number generation.
//
//   stateful  RandomUniform, RandomStandardNormal, RandomUniformInt   state: HabanaPhiloxState, outside the cluster
//   stateless V2 ops (StatelessRandomUniformV2, …)                    state: key and counter of the op
//   stateless ops before V2                                           state: StatelessRandomGetKeyCounter, outside
//
// If an HPU computes the seed, as in Keras 3's dropout, arithmetic replaces StatelessRandomGetKeyCounter (seed_key.h).
//
// Fused random ops are expanded first (fused_random_ops.h). Multinomial and StatelessMultinomial become arithmetic
// (categorical_sampling.h) if the number of samples is constant and the number of classes is known. RandomShuffle
// becomes a GatherV2, which a cluster can contain, and a HabanaRandomOrder outside, which draws the order of the rows.
// A RandomShuffle of int32, or with a shape that cannot be computed outside clusters, stays unchanged. In graphs with
// lowered control flow, these three ops stay unchanged.
//
// Floating-point numbers come from StatelessRandomUniformFullIntV2, whose integers are the same in XLA and on the CPU.
// XLA's own conversion to floating-point numbers uses other bits than the CPU kernels, so plain ops repeat the
// arithmetic of the CPU kernels. Draws by the card's generator (card_draw.h) are an exception. Uniform numbers are
// bit-identical to the numbers of the CPU kernels. Normal numbers, and the sums that select categories, are equal up to
// rounding. Categories are equal to the results of the single-threaded CPU kernel; with several threads, the CPU kernel
// uses some words twice.
//
// The last node of each replacement inherits the name and the edges of the replaced node. Ops and dtypes without a
// replacement stay unchanged and outside clusters. In the graph of a jit_compile function, only stateful ops are
// rewritten.
absl::Status RewriteRandomOps(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_RANDOM_RANDOM_PASS_H_
