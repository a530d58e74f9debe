// Narrowing of 64-bit to 32-bit types, for op lists without 64-bit types.
#ifndef HPU_PLUGIN_PASSES_PRECISION_NARROWING_PASS_H_
#define HPU_PLUGIN_PASSES_PRECISION_NARROWING_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/analysis/op_list.h"
#include "plugin/passes/analysis/static_shapes.h"
#include "plugin/passes/functions/function_rewriter.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Narrows 64-bit values that fit in 32 bits. Runs before placement, which would move ops with 64-bit types to the CPU.
// These values fit: constants that the narrow type represents exactly, casts from a narrow type, and positions or sizes
// bounded by known shapes. The result of an op that only moves narrow values is also narrow. Ops that read narrow
// values (indices, axes, shapes, comparisons, casts) read the narrow type. Ops that produce narrow values compute in
// the narrow type. For other consumers, casts convert the results to the wide type. A cast, or an IdentityN of several
// casts, has the op's old name, so fetched values keep their type and value. Nodes that the program placed on another
// device stay unchanged.
absl::Status NarrowTypes(PassContext* context, const OpListData& list, const StaticShapes& shapes);

// NarrowTypes for the functions of the loops and branches that `filter` accepts, and for functions that these
// functions call. Runs before the pass in control_flow_pass.h decides which loops and branches stay functional.
absl::Status NarrowLoopBodies(PassContext* context, const OpListData& list, const FunctionRewriter::NodeFilter& filter);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PRECISION_NARROWING_PASS_H_
