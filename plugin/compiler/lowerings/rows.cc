#include "plugin/compiler/lowerings/rows.h"

#include <cstdint>
#include <numeric>
#include <vector>

#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"

namespace hpu {

xla::XlaOp SumsOfRows(xla::XlaOp x) {
  const xla::Shape shape = x.builder()->GetShape(x).value();
  const xla::PrimitiveType type = shape.element_type();
  return xla::Reduce(x, xla::Zero(x.builder(), type), xla::CreateScalarAddComputation(type, x.builder()),
                     {shape.dimensions_size() - 1});
}

xla::XlaOp AlongRows(xla::XlaOp values, xla::XlaOp x) {
  const xla::Shape shape = x.builder()->GetShape(x).value();
  std::vector<int64_t> rows(shape.dimensions_size() - 1);
  std::iota(rows.begin(), rows.end(), 0);
  return xla::BroadcastInDim(values, shape.dimensions(), rows);
}

}  // namespace hpu
