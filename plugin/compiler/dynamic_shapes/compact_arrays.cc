#include "plugin/compiler/dynamic_shapes/compact_arrays.h"

#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/slicing.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

// Number of leading dimensions up to the last dynamic one.
int64_t CountOuter(const xla::Shape& shape) {
  int64_t outer = shape.dimensions_size();
  while (outer > 0 && !shape.is_dynamic_dimension(outer - 1)) --outer;
  return outer;
}

}  // namespace

bool IsCompacted(const xla::Shape& shape) {
  int64_t outer = 1;
  for (int64_t d = 0; d < shape.dimensions_size(); ++d) {
    if (shape.is_dynamic_dimension(d) && outer > 1) return xla::ShapeUtil::ElementsIn(shape) > 0;
    outer *= shape.dimensions(d);
  }
  return false;
}

xla::XlaOp Compact(xla::XlaOp padded, const xla::Shape& shape, absl::Span<const xla::XlaOp> sizes) {
  xla::XlaBuilder* const builder = padded.builder();
  const int64_t elements = xla::ShapeUtil::ElementsIn(shape);
  const xla::PrimitiveType type = elements <= std::numeric_limits<int32_t>::max() ? xla::S32 : xla::S64;
  xla::XlaOp rest = xla::Iota(builder, type, elements);
  xla::XlaOp source = xla::Broadcast(xla::Zero(builder, type), {elements});
  int64_t stride = 1;
  for (int64_t d = shape.dimensions_size() - 1; d >= 0; --d) {
    // Past the last element, coordinates of the outermost dimension are out of range; a gather clamps these
    // coordinates.
    const xla::XlaOp size = xla::ConvertElementType(xla::Max(sizes[d], xla::One(builder, xla::S32)), type);
    const xla::XlaOp coordinate = d == 0 ? rest : xla::Rem(rest, size);
    source = xla::Add(source, xla::Mul(coordinate, xla::ConstantR0WithType(builder, type, stride)));
    rest = xla::Div(rest, size);
    stride *= shape.dimensions(d);
  }
  xla::GatherDimensionNumbers dimensions;
  dimensions.add_collapsed_slice_dims(0);
  dimensions.add_start_index_map(0);
  dimensions.set_index_vector_dim(1);
  const xla::XlaOp gathered = xla::Gather(xla::Reshape(padded, {elements}), source, dimensions, {1});
  return xla::Reshape(gathered, shape.dimensions());
}

xla::XlaOp Expand(xla::XlaOp compact, const xla::Shape& shape, absl::Span<const xla::XlaOp> sizes) {
  if (!IsCompacted(shape)) return xla::Reshape(compact, shape.dimensions());
  xla::XlaBuilder* const builder = compact.builder();
  const int64_t elements = xla::ShapeUtil::ElementsIn(shape);
  if (elements > std::numeric_limits<int32_t>::max()) {
    return builder->ReportError(absl::UnimplementedError(
        absl::StrCat("too many elements for a dynamic shape, got a bound of ", elements, "; use smaller arrays")));
  }
  const int64_t outer = CountOuter(shape);
  const std::vector<int64_t> bounds(shape.dimensions().begin(), shape.dimensions().begin() + outer);
  const xla::Shape indices = xla::ShapeUtil::MakeShape(xla::S32, bounds);
  const int64_t rows = xla::ShapeUtil::ElementsIn(indices);
  xla::XlaOp row = xla::Broadcast(xla::Zero(builder, xla::S32), bounds);
  for (int64_t d = 0; d < outer; ++d) row = row * sizes[d] + xla::Iota(builder, indices, d);
  // Rows past the sizes may be out of range; the gather clamps them.
  const xla::XlaOp table = xla::Reshape(compact, {rows, elements / rows});
  return xla::Reshape(xla::TorchIndexSelect(table, xla::Reshape(row, {rows}), 0), shape.dimensions());
}

}  // namespace hpu
