#include "plugin/backends/emulator/kernels/sparse_product.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/base/casts.h"
#include "plugin/backends/emulator/kernels/lanes.h"
#include "plugin/backends/emulator/kernels/parallel.h"
#include "plugin/backends/emulator/kernels/vectorize.h"
#include "plugin/base/status_macros.h"

namespace hpu::emulator {
namespace {

constexpr char kSparseProductName[] = "sparse_product.3";
// Fewer adjacent elements do not fill a vector register.
constexpr int64_t kShortInner = 16;
// Number of lines whose row sums are computed before their columns, because reading data right after storing it is
// slow.
constexpr int64_t kLinesAtOnce = 4;

template <typename T>
struct Entry {
  int64_t begin;  // offset of the weighted element, in elements
  T weight;
};

// The rows of a matrix; row i has the entries from ends[i] to ends[i + 1].
template <typename T>
struct Rows {
  std::vector<Entry<T>> entries;
  std::vector<int64_t> ends = {0};

  Rows(const SparseMatrix& matrix, int64_t elements_per_column) {
    for (const std::vector<SparseMatrix::Entry>& row : matrix.rows) {
      for (const SparseMatrix::Entry& entry : row)
        entries.push_back({entry.column * elements_per_column, static_cast<T>(entry.weight)});
      ends.push_back(entries.size());
    }
  }
  int64_t size() const { return ends.size() - 1; }
};

// A weighted sum of sections of `from`.
template <typename T>
struct Sum {
  const T* from;
  T* to;
  const Entry<T>* entries;
  int64_t count;
};

struct AddLanes {
  template <int n, typename T>
  static HPU_INLINE void Run(const Sum<T>& sum, int64_t lane) {
    T sums[n] = {};
    for (int64_t e = 0; e < sum.count; ++e) {
      const T* from = sum.from + sum.entries[e].begin + lane;
      const T weight = sum.entries[e].weight;
      HPU_SIMD
      for (int i = 0; i < n; ++i) sums[i] += weight * from[i];
    }
    HPU_SIMD
    for (int i = 0; i < n; ++i) sum.to[lane + i] = sums[i];
  }
};

// Lines of the result from `begin` to `end`.
template <typename T>
struct Lines {
  const T* from;
  T* to;
  T* lines;  // buffer for the row sums of kLinesAtOnce lines
  const Rows<T>* vertical;
  const Rows<T>* horizontal;
  int64_t short_columns;  // number of leading columns that MakeShortColumns computes
  int64_t begin, end;
  int64_t height, to_height;
  int64_t from_line, to_line;  // elements
  int64_t inner;
};

// Number of lanes for a column of `inner` elements, where inner < kShortInner.
constexpr int LanesOfColumn(int64_t inner) { return inner <= 4 ? 4 : inner <= 8 ? 8 : 16; }

// Computes the columns of `count` consecutive lines of the result. The stores of a column may extend beyond its end;
// the next column overwrites the excess.
template <int n, int count, typename T>
HPU_INLINE void MakeShortColumns(const Lines<T>& work, const T* const* lines, T* to) {
  const Rows<T>& columns = *work.horizontal;
  for (int64_t c = 0; c < work.short_columns; ++c) {
    Lanes<T, n> sums[count] = {};
    for (int64_t e = columns.ends[c]; e < columns.ends[c + 1]; ++e) {
      const Entry<T> entry = columns.entries[e];
      for (int i = 0; i < count; ++i) sums[i] += entry.weight * LoadLanes<n>(lines[i] + entry.begin);
    }
    for (int i = 0; i < count; ++i) StoreLanes(sums[i], to + i * work.to_line + c * work.inner);
  }
}

template <int count, typename T>
HPU_INLINE void MakeColumns(const Lines<T>& work, const T* const* lines, T* to) {
  if (work.short_columns > 0) {
    const int lanes = LanesOfColumn(work.inner);
    if (lanes == 4) MakeShortColumns<4, count>(work, lines, to);
    if (lanes == 8) MakeShortColumns<8, count>(work, lines, to);
    if (lanes == 16) MakeShortColumns<16, count>(work, lines, to);
  }
  const Rows<T>& columns = *work.horizontal;
  for (int i = 0; i < count; ++i) {
    for (int64_t c = work.short_columns; c < columns.size(); ++c) {
      const int64_t first = columns.ends[c];
      const Sum<T> sum{lines[i], to + i * work.to_line + c * work.inner, &columns.entries[first],
                       columns.ends[c + 1] - first};
      OverLanes<AddLanes>(sum, 0, work.inner);
    }
  }
}

// Returns the row sums of line i of the result, from which the line's columns are computed. If the sums equal one row
// of the operand, may return that row (see `may_be_operands`). Otherwise computes the sums in `made`.
template <typename T>
HPU_INLINE const T* MakeRow(const Lines<T>& work, int64_t i, bool may_be_operands, T* made) {
  const int64_t row = i % work.to_height;
  const T* const from = work.from + i / work.to_height * work.height * work.from_line;
  if (work.vertical->size() == 0) return from + row * work.from_line;
  const int64_t first = work.vertical->ends[row], count = work.vertical->ends[row + 1] - first;
  const Entry<T>* const entries = &work.vertical->entries[first];
  if (may_be_operands && count == 1 && entries->weight == 1) return from + entries->begin;
  OverLanes<AddLanes>(Sum<T>{from, made, entries, count}, 0, work.from_line);
  return made;
}

template <int count, typename T>
HPU_INLINE void MakeLinesAt(const Lines<T>& work, int64_t first) {
  T* const to = work.to + first * work.to_line;
  if (work.horizontal->size() == 0) {
    for (int i = 0; i < count; ++i) MakeRow(work, first + i, false, to + i * work.to_line);
    return;
  }
  const T* lines[count];
  for (int i = 0; i < count; ++i) lines[i] = MakeRow(work, first + i, true, work.lines + i * work.from_line);
  MakeColumns<count>(work, lines, to);
}

template <typename T>
HPU_INLINE void MakeLines(const Lines<T>& work) {
  int64_t i = work.begin;
  for (; i + kLinesAtOnce <= work.end; i += kLinesAtOnce) MakeLinesAt<kLinesAtOnce>(work, i);
  for (; i < work.end; ++i) MakeLinesAt<1>(work, i);
}

HPU_VECTORIZED(RunLines, Lines<float>, MakeLines<float>)
HPU_VECTORIZED(RunLines, Lines<double>, MakeLines<double>)

template <typename T>
class SparseProductKernel final : public Kernel {
 public:
  explicit SparseProductKernel(const SparseProduct& product)
      : height_(product.height),
        inner_(product.inner),
        from_line_(product.width * product.inner),
        vertical_(product.vertical, from_line_),
        horizontal_(product.horizontal, inner_),
        to_height_(vertical_.size() == 0 ? height_ : vertical_.size()),
        to_line_((horizontal_.size() == 0 ? product.width : horizontal_.size()) * inner_),
        lines_(product.outer * to_height_),
        short_columns_(inner_ < kShortInner ? CountShortColumns() : 0) {}

  absl::Status Run(const KernelCall& call) const override {
    RunShards(call.pool, lines_, ShardSize(sizeof(T) * (from_line_ + to_line_)), [&](Shard shard) {
      // Kept per thread, so that not every launch allocates.
      thread_local std::vector<T> lines;
      if (static_cast<int64_t>(lines.size()) < kLinesAtOnce * from_line_) lines.resize(kLinesAtOnce * from_line_);
      RunLines(Lines<T>{static_cast<const T*>(call.operands[0]), static_cast<T*>(call.results[0]), lines.data(),
                        &vertical_, &horizontal_, short_columns_, shard.begin, shard.end, height_, to_height_,
                        from_line_, to_line_, inner_});
    });
    return absl::OkStatus();
  }

 private:
  // Number of leading columns that neither read nor write beyond their line when all lanes are used.
  int64_t CountShortColumns() const {
    const int64_t lanes = LanesOfColumn(inner_);
    int64_t column = 0;
    for (; column < horizontal_.size() && column * inner_ + lanes <= to_line_; ++column) {
      const auto fits = [&](const Entry<T>& entry) { return entry.begin + lanes <= from_line_; };
      const auto entries = horizontal_.entries.begin();
      if (!std::all_of(entries + horizontal_.ends[column], entries + horizontal_.ends[column + 1], fits)) break;
    }
    return column;
  }

  const int64_t height_, inner_, from_line_;
  const Rows<T> vertical_, horizontal_;
  const int64_t to_height_, to_line_, lines_, short_columns_;
};

// Parses a matrix with `columns` columns from the front of the parameters: the number of rows, then the number of
// entries and the entries of each row. False if the parameters are invalid.
bool ParseMatrix(int64_t columns, absl::Span<const int64_t>* parameters, SparseMatrix* matrix) {
  const auto take = [parameters] {
    const int64_t value = parameters->empty() ? -1 : parameters->front();
    if (!parameters->empty()) parameters->remove_prefix(1);
    return value;
  };
  const int64_t rows = take();
  if (rows < 0 || rows > static_cast<int64_t>(parameters->size())) return false;
  matrix->rows.resize(rows);
  for (std::vector<SparseMatrix::Entry>& row : matrix->rows) {
    const int64_t count = take();
    if (count < 0 || count > static_cast<int64_t>(parameters->size() / 2)) return false;
    row.resize(count);
    for (SparseMatrix::Entry& entry : row) {
      entry.column = take();
      entry.weight = absl::bit_cast<double>(take());
      if (entry.column < 0 || entry.column >= columns) return false;
    }
  }
  return true;
}

void Append(const SparseMatrix& matrix, std::vector<int64_t>* parameters) {
  parameters->push_back(matrix.rows.size());
  for (const std::vector<SparseMatrix::Entry>& row : matrix.rows) {
    parameters->push_back(row.size());
    for (const SparseMatrix::Entry& entry : row) {
      parameters->insert(parameters->end(), {entry.column, absl::bit_cast<int64_t>(entry.weight)});
    }
  }
}

absl::StatusOr<std::unique_ptr<const Kernel>> MakeSparseProduct(absl::Span<const int64_t> parameters) {
  constexpr size_t kHead = 5;
  if (parameters.size() >= kHead && parameters[0] >> 1 == 0 &&
      *std::min_element(parameters.begin() + 1, parameters.begin() + kHead) > 0) {
    SparseProduct product{parameters[1], parameters[2], parameters[3], parameters[4], {}, {}, parameters[0] != 0};
    parameters.remove_prefix(kHead);
    if (ParseMatrix(product.height, &parameters, &product.vertical) &&
        ParseMatrix(product.width, &parameters, &product.horizontal) && parameters.empty() &&
        product.vertical.rows.size() + product.horizontal.rows.size() > 0) {
      if (product.is_float64) return std::make_unique<SparseProductKernel<double>>(product);
      return std::make_unique<SparseProductKernel<float>>(product);
    }
  }
  return absl::InvalidArgumentError(
      "expected is_float64 (0 or 1), positive outer, height, width and inner, then two matrices, at least one of which "
      "has rows; a matrix is the number of rows, then for each row the number of entries and the entries");
}

const bool sparse_product_registered = RegisterKernel(kSparseProductName, MakeSparseProduct);

}  // namespace

KernelSpec SparseProduct::Spec() const {
  KernelSpec spec{kSparseProductName, {is_float64, outer, height, width, inner}};
  Append(vertical, &spec.parameters);
  Append(horizontal, &spec.parameters);
  return spec;
}

}  // namespace hpu::emulator
