#include "plugin/compiler/lowerings/search_counts.h"

#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"

namespace hpu {

xla::XlaOp CountUpTo(xla::XlaOp elements, xla::XlaOp bounds, int64_t size, int64_t rows, int64_t bounds_of_row) {
  xla::XlaBuilder* const builder = elements.builder();
  const int64_t all[] = {rows, bounds_of_row, size};
  const xla::XlaOp up_to =
      xla::Ge(xla::BroadcastInDim(bounds, all, {0, 1}), xla::BroadcastInDim(elements, all, {0, 2}));
  return xla::Reduce(xla::ConvertElementType(up_to, xla::S32), xla::Zero(builder, xla::S32),
                     xla::CreateScalarAddComputation(xla::S32, builder), {2});
}

}  // namespace hpu
