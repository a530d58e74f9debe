// Narrowing: replaces 64-bit types by 32-bit ones if the values fit and the active op list has no 64-bit types.
#ifndef HPU_PLUGIN_PASSES_PRECISION_NARROWING_PASS_H_
#define HPU_PLUGIN_PASSES_PRECISION_NARROWING_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/analysis/op_list.h"
#include "plugin/passes/analysis/static_shapes.h"
#include "plugin/passes/functions/function_rewriter.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Runs before placement, which would move ops with 64-bit types to the CPU. A value is narrow if it is provably small:
// a constant, a cast from a narrow type, a position or size that known shapes bound, or the result of an op that only
// moves narrow values. Ops that take narrow values (indices, axes, shapes, comparisons, casts) then take the narrow
// type. Ops that produce them compute in it, and a cast of the old name provides the wide type for other consumers. So
// fetched values keep their type and value. Nodes that the program placed on another device stay unchanged.
absl::Status NarrowTypes(PassContext* context, const OpListData& list, const StaticShapes& shapes);

// The same for the bodies and conditions of the loops and branches that `concerned` selects, and for functions that
// they call. Runs before the decision which loops and branches stay whole.
absl::Status NarrowLoopBodies(PassContext* context, const OpListData& list,
                              const FunctionRewriter::Concerned& concerned);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PRECISION_NARROWING_PASS_H_
