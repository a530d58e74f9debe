// Vectorised transposition of small matrices.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_TRANSPOSE_TILE_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_TRANSPOSE_TILE_H_

#include <cstdint>

#include "plugin/backends/emulator/kernels/lanes.h"

namespace hpu::emulator {

// A matrix and its transpose. The matrix's rows are `from_stride` elements apart, the transpose's rows `to_stride`.
template <typename T>
struct TransposedMatrix {
  const T* from;
  T* to;
  int64_t rows;
  int64_t columns;
  int64_t from_stride;
  int64_t to_stride;
};

// Exchanges the off-diagonal blocks of `distance` rows and columns, then recursively the smaller blocks. A call with
// distance size / 2 transposes the matrix.
template <typename T, int size, int distance>
HPU_INLINE void Exchange(Lanes<T, size>* rows) {
  decltype(Lanes<T, size>{} == Lanes<T, size>{}) upper, lower;  // integers, even if T is a float type
  for (int i = 0; i < size; ++i) {
    upper[i] = (i & distance) != 0 ? size + i - distance : i;
    lower[i] = (i & distance) != 0 ? size + i : i + distance;
  }
#pragma GCC unroll 16
  for (int i = 0; i < size; ++i) {
    if ((i & distance) != 0) continue;
    const Lanes<T, size> a = rows[i], b = rows[i + distance];
    rows[i] = __builtin_shuffle(a, b, upper);
    rows[i + distance] = __builtin_shuffle(a, b, lower);
  }
  if constexpr (distance > 1) Exchange<T, size, distance / 2>(rows);
}

// Transposes a square tile whose rows have 32 bytes.
template <typename T, int size>
HPU_INLINE void TransposeSquare(const TransposedMatrix<T>& matrix, int64_t row, int64_t column) {
  Lanes<T, size> rows[size];
#pragma GCC unroll 16
  for (int i = 0; i < size; ++i) {
    rows[i] = LoadLanes<size>(matrix.from + (row + i) * matrix.from_stride + column);
  }
  Exchange<T, size, size / 2>(rows);
#pragma GCC unroll 16
  for (int i = 0; i < size; ++i) {
    StoreLanes(rows[i], matrix.to + (column + i) * matrix.to_stride + row);
  }
}

template <typename T>
HPU_INLINE void TransposeRest(const TransposedMatrix<T>& matrix, int64_t row, int64_t rows, int64_t column,
                              int64_t columns) {
  for (int64_t c = column; c < columns; ++c) {
    for (int64_t r = row; r < rows; ++r) matrix.to[c * matrix.to_stride + r] = matrix.from[r * matrix.from_stride + c];
  }
}

template <typename T>
HPU_INLINE void TransposeTile(const TransposedMatrix<T>& matrix) {
  constexpr int kSize = 32 / sizeof(T);
  const int64_t rows = matrix.rows / kSize * kSize, columns = matrix.columns / kSize * kSize;
  for (int64_t r = 0; r < rows; r += kSize) {
    for (int64_t c = 0; c < columns; c += kSize) TransposeSquare<T, kSize>(matrix, r, c);
  }
  TransposeRest(matrix, 0, rows, columns, matrix.columns);
  TransposeRest(matrix, rows, matrix.rows, 0, matrix.columns);
}

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_TRANSPOSE_TILE_H_
