// Row independence: check that a program may run with padded rows.
#ifndef HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_ROW_INDEPENDENCE_H_
#define HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_ROW_INDEPENDENCE_H_

#include "absl/status/status.h"
#include "plugin/compiler/dynamic_shapes/row_shapes.h"
#include "plugin/hal/recipe.h"

namespace hpu {

// Proves that the first rows of `padded`'s results equal `program`'s results for any values in the padded rows of the
// arguments. `program` and `padded` are lowerings of one cluster, for `counts.rows` and `counts.padded_rows` rows.
// Without a proof, fails with FAILED_PRECONDITION; the error names an op that may mix rows or depend on the number of
// rows. Refuses unknown ops.
//
// Both programs must have the same instructions with the same attributes, except for sizes. So only sizes depend on the
// number of rows, and the sizes show which dimension of each value holds the rows. Each instruction must keep rows
// apart (row_rules.h). By induction, row i of each value then depends only on row i of the arguments. The rows of
// arguments and results are in the outermost dimension, so the first rows are the first bytes.
//
// XLA's own analysis for varying sizes (DynamicDimensionInference) cannot replace this check. It propagates sizes
// through instructions that mix rows, without an error.
absl::Status CheckRowIndependence(const hal::Program& program, const hal::Program& padded, RowCounts counts);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_ROW_INDEPENDENCE_H_
