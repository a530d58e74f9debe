// Row shapes: the row dimension of an array, found from the array's shapes in two lowerings of one program.
#ifndef HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_ROW_SHAPES_H_
#define HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_ROW_SHAPES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "xla/xla_data.pb.h"

namespace hpu {

// Number of rows (usually examples of a batch) in each of the two lowerings; rows < padded_rows.
struct RowCounts {
  int64_t rows = 0;
  int64_t padded_rows = 0;
};

// The dimension that holds an array's rows. Indices i * block to (i + 1) * block - 1 belong to row i.
struct RowDimension {
  int64_t dimension = 0;
  int64_t block = 1;

  friend bool operator==(const RowDimension& a, const RowDimension& b) {
    return a.dimension == b.dimension && a.block == b.block;
  }
};

// An array of the program in both lowerings. Borrowed pointers.
struct RowArray {
  const xla::ShapeProto* shape = nullptr;
  const xla::ShapeProto* padded_shape = nullptr;
  std::optional<RowDimension> rows;  // unset: the shape does not depend on the number of rows

  int64_t size(int64_t dimension) const { return shape->dimensions(static_cast<int>(dimension)); }
  int64_t padded_size(int64_t dimension) const { return padded_shape->dimensions(static_cast<int>(dimension)); }
  // Product of the sizes before or after the row dimension. Requires `rows`.
  int64_t OuterSize() const;
  int64_t InnerSize() const;
};

// The array, or the arrays of a tuple. The two shapes of each array must be equal, or differ in one dimension whose
// size is proportional to the number of rows. Otherwise fails with FAILED_PRECONDITION and the reason.
absl::StatusOr<std::vector<RowArray>> RowArraysOf(const xla::ShapeProto& shape, const xla::ShapeProto& padded_shape,
                                                  RowCounts counts);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_ROW_SHAPES_H_
