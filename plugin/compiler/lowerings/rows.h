// Rows of arrays: their last dimension.
#ifndef HPU_PLUGIN_COMPILER_LOWERINGS_ROWS_H_
#define HPU_PLUGIN_COMPILER_LOWERINGS_ROWS_H_

#include "xla/hlo/builder/xla_builder.h"

namespace hpu {

// Sums of the rows of x, without the last dimension.
xla::XlaOp SumsOfRows(xla::XlaOp x);

// Repeats the value of each row in the shape of x. `values` has the shape of x without the last dimension.
xla::XlaOp AlongRows(xla::XlaOp values, xla::XlaOp x);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_LOWERINGS_ROWS_H_
