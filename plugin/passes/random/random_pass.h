// Random numbers that compiled code draws as TensorFlow's CPU kernels do.
#ifndef HPU_PLUGIN_PASSES_RANDOM_RANDOM_PASS_H_
#define HPU_PLUGIN_PASSES_RANDOM_RANDOM_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Replaces random ops on an HPU so that clusters can hold the drawing and not the state:
//
//   stateful  RandomUniform, RandomStandardNormal, RandomUniformInt   state: HabanaPhiloxState, outside the cluster
//   stateless …V2 of the same                                         state: their key and counter
//   stateless first versions                                          state: StatelessRandomGetKeyCounter, outside
//
// Multinomial and StatelessMultinomial, with as many samples as a constant says of classes whose number is known,
// become arithmetic (categorical_sampling.h). RandomShuffle becomes a GatherV2, for clusters, of rows in the order that
// a HabanaRandomOrder outside draws; but for int32, and where the shape is not known outside.
//
// The numbers come from StatelessRandomUniformFullIntV2, whose whole numbers XLA draws bit for bit as the CPU does, and
// are turned into floating-point numbers by the CPU kernels' arithmetic: XLA's own conversion takes other bits. Uniform
// numbers equal the CPU's bit for bit, normal ones and the sums that categories fall into to rounding; categories are
// those of the CPU with one thread, for with more its kernel draws some words twice. The last node of each replacement
// has the replaced node's name and edges. Ops and dtypes that have no such form stay as they are and outside clusters.
absl::Status RewriteRandomOps(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_RANDOM_RANDOM_PASS_H_
