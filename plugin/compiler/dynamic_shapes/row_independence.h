// RowIndependence: whether a program may run with more rows than it was given.
#ifndef HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_ROW_INDEPENDENCE_H_
#define HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_ROW_INDEPENDENCE_H_

#include "absl/status/status.h"
#include "plugin/compiler/dynamic_shapes/row_shapes.h"
#include "plugin/hal/recipe.h"

namespace hpu {

// OK if `padded` computes, in the first rows of its results, what `program` computes, whatever the other rows of its
// arguments hold. Both are lowerings of one cluster, for these numbers of rows. FailedPrecondition names the op that
// may mix rows or depend on their number; what is not known counts as such.
//
// The two must be the same instructions with the same attributes, up to sizes; so nothing depends on the number of rows
// but sizes, and these tell which dimension of each value holds the rows. Each instruction then must keep rows apart
// (row_rules.h), so by induction each value's row i depends on row i of the arguments alone. Arguments and results hold
// their rows outermost: the first rows are the first bytes.
//
// XLA has an analysis of its own for programs with sizes that vary (DynamicDimensionInference): it carries sizes
// through what mixes rows and does not say that it does, so it cannot tell this.
absl::Status CheckRowIndependence(const hal::Program& program, const hal::Program& padded, RowCounts counts);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_ROW_INDEPENDENCE_H_
