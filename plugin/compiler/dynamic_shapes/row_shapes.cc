#include "plugin/compiler/dynamic_shapes/row_shapes.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tsl/platform/errors.h"
#include "tsl/platform/statusor.h"

namespace hpu {
namespace {

std::string Dimensions(const xla::ShapeProto& shape) {
  return absl::StrCat("[", absl::StrJoin(shape.dimensions(), ","), "]");
}

absl::Status AppendArrays(const xla::ShapeProto& shape, const xla::ShapeProto& padded_shape, RowCounts counts,
                          std::vector<RowArray>* arrays) {
  if (shape.element_type() != padded_shape.element_type() ||
      shape.dimensions_size() != padded_shape.dimensions_size() ||
      shape.tuple_shapes_size() != padded_shape.tuple_shapes_size()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the type or rank of a value depends on the number of rows: ", xla::PrimitiveType_Name(shape.element_type()),
        Dimensions(shape), " for ", counts.rows, " rows, ", xla::PrimitiveType_Name(padded_shape.element_type()),
        Dimensions(padded_shape), " for ", counts.padded_rows, " rows"));
  }
  for (int i = 0; i < shape.tuple_shapes_size(); ++i) {
    TF_RETURN_IF_ERROR(AppendArrays(shape.tuple_shapes(i), padded_shape.tuple_shapes(i), counts, arrays));
  }
  if (shape.element_type() == xla::TUPLE) return absl::OkStatus();
  RowArray array;
  array.shape = &shape;
  array.padded_shape = &padded_shape;
  for (int i = 0; i < shape.dimensions_size(); ++i) {
    const int64_t size = shape.dimensions(i), padded_size = padded_shape.dimensions(i);
    if (size == padded_size) continue;
    const int64_t block = size / counts.rows;
    const bool proportional = size == block * counts.rows && padded_size == block * counts.padded_rows;
    if (!proportional || array.rows.has_value()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "expected one dimension proportional to the rows, and all others constant: got ", Dimensions(shape), " for ",
          counts.rows, " rows, ", Dimensions(padded_shape), " for ", counts.padded_rows, " rows"));
    }
    array.rows = RowDimension{i, block};
  }
  arrays->push_back(array);
  return absl::OkStatus();
}

int64_t Product(const xla::ShapeProto& shape, int64_t begin, int64_t end) {
  int64_t product = 1;
  for (int64_t i = begin; i < end; ++i) product *= shape.dimensions(static_cast<int>(i));
  return product;
}

}  // namespace

int64_t RowArray::OuterSize() const { return Product(*shape, 0, rows->dimension); }

int64_t RowArray::InnerSize() const { return Product(*shape, rows->dimension + 1, shape->dimensions_size()); }

absl::StatusOr<std::vector<RowArray>> RowArraysOf(const xla::ShapeProto& shape, const xla::ShapeProto& padded_shape,
                                                  RowCounts counts) {
  std::vector<RowArray> arrays;
  TF_RETURN_IF_ERROR(AppendArrays(shape, padded_shape, counts, &arrays));
  return arrays;
}

}  // namespace hpu
