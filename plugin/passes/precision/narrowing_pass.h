// Narrowing: 64-bit values that are 32-bit ones in disguise become such, where the active op list has no 64-bit types.
#ifndef HPU_PLUGIN_PASSES_PRECISION_NARROWING_PASS_H_
#define HPU_PLUGIN_PASSES_PRECISION_NARROWING_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/analysis/op_list.h"
#include "plugin/passes/analysis/static_shapes.h"
#include "plugin/passes/functions/function_rewriter.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Runs before placement, which would send ops with such types to the CPU. A value is narrow if it is proven to be: a
// constant, a cast from a narrow type, a position or size whose bound the shapes tell, or made of such values by an op
// that only moves values. Ops that take narrow values (indices, axes, shapes, comparisons, casts) then take the narrow
// type; ops that give them do their work in it, and a cast of the old name gives the wide type to whoever wants it:
// what a user fetches keeps its type and its values. Nodes that the program has on another device stay as they are.
absl::Status NarrowTypes(PassContext* context, const OpListData& list, const StaticShapes& shapes);

// The same in the bodies and conditions of those loops and branches of a graph that `concerned` picks, and in what
// these call. Runs before it is decided which of them can stay whole.
absl::Status NarrowLoopBodies(PassContext* context, const OpListData& list,
                              const FunctionRewriter::Concerned& concerned);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PRECISION_NARROWING_PASS_H_
