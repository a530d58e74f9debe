#include "plugin/backends/emulator/kernels/sparse_product.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "absl/base/casts.h"
#include "plugin/backends/emulator/kernels/lanes.h"
#include "plugin/backends/emulator/kernels/parallel.h"
#include "plugin/backends/emulator/kernels/vectorize.h"
#include "plugin/hal/status_macros.h"

namespace hpu::emulator {
namespace {

constexpr char kName[] = "sparse_product.1";
// Fewer numbers side by side are no vectors: then those of a whole line are gathered.
constexpr int64_t kShortInner = 16;

struct Entry {
  int64_t begin;  // of what it weighs, in elements
  float weight;
};

// A matrix's rows one after the other: row i has the entries from ends[i] to ends[i + 1].
struct Rows {
  std::vector<Entry> entries;
  std::vector<int64_t> ends = {0};

  Rows(const SparseMatrix& matrix, int64_t elements_per_column) {
    for (const std::vector<SparseMatrix::Entry>& row : matrix.rows) {
      for (const SparseMatrix::Entry& entry : row)
        entries.push_back({entry.column * elements_per_column, entry.weight});
      ends.push_back(entries.size());
    }
  }
  int64_t size() const { return ends.size() - 1; }
};

// A weighted sum of some parts of `from`.
struct Sum {
  const float* from;
  float* to;
  const Entry* entries;
  int64_t count;
};

struct AddLanes {
  template <int n>
  static HPU_INLINE void Run(const Sum& sum, int64_t lane) {
    float sums[n] = {};
    for (int64_t e = 0; e < sum.count; ++e) {
      const float* from = sum.from + sum.entries[e].begin + lane;
      const float weight = sum.entries[e].weight;
      HPU_SIMD
      for (int i = 0; i < n; ++i) sums[i] += weight * from[i];
    }
    HPU_SIMD
    for (int i = 0; i < n; ++i) sum.to[lane + i] = sums[i];
  }
};

// A line of the result of which each number is gathered: `layers` arrays of `size` places and weights, a layer for each
// entry that a row of the matrix may have.
struct GatheredLine {
  const float* from;
  float* to;
  const int32_t* places;
  const float* weights;
  int64_t layers;
  int64_t size;
};

struct GatherLanes {
  template <int n>
  static HPU_INLINE void Run(const GatheredLine& line, int64_t lane) {
    float sums[n] = {};
    for (int64_t layer = 0; layer < line.layers; ++layer) {
      const int32_t* places = line.places + layer * line.size + lane;
      const float* weights = line.weights + layer * line.size + lane;
      HPU_SIMD
      for (int i = 0; i < n; ++i) {
        const float product = weights[i] * line.from[places[i]];
        sums[i] += weights[i] != 0.0f ? product : 0.0f;
      }
    }
    HPU_SIMD
    for (int i = 0; i < n; ++i) line.to[lane + i] = sums[i];
  }
};

// Lines of the result from `begin` to `end`.
struct Lines {
  const float* from;
  float* to;
  float* line;  // for one that is added up, before its columns are
  const Rows* vertical;
  const Rows* horizontal;
  const GatheredLine* gathered;  // instead of `horizontal` if it has a size
  int64_t begin, end;
  int64_t height, to_height;
  int64_t from_line, to_line;  // elements
  int64_t inner;
};

HPU_INLINE void MakeColumns(const Lines& work, const float* line, float* to) {
  if (work.gathered->size > 0) {
    GatheredLine gathered = *work.gathered;
    gathered.from = line;
    gathered.to = to;
    return OverLanes<GatherLanes>(gathered, 0, gathered.size);
  }
  const Rows& columns = *work.horizontal;
  for (int64_t c = 0; c < columns.size(); ++c) {
    const int64_t first = columns.ends[c];
    const Sum sum{line, to + c * work.inner, &columns.entries[first], columns.ends[c + 1] - first};
    OverLanes<AddLanes>(sum, 0, work.inner);
  }
}

HPU_INLINE void MakeLines(const Lines& work) {
  const bool has_columns = work.horizontal->size() > 0;
  for (int64_t i = work.begin; i < work.end; ++i) {
    float* const to = work.to + i * work.to_line;
    const int64_t row = i % work.to_height;
    const float* line = work.from + i / work.to_height * work.height * work.from_line;
    if (work.vertical->size() == 0) {
      line += row * work.from_line;
    } else {
      const int64_t first = work.vertical->ends[row], count = work.vertical->ends[row + 1] - first;
      const Entry* entries = &work.vertical->entries[first];
      if (has_columns && count == 1 && entries->weight == 1.0f) {
        line += entries->begin;
      } else {
        const Sum sum{line, has_columns ? work.line : to, entries, count};
        OverLanes<AddLanes>(sum, 0, work.from_line);
        line = work.line;
      }
    }
    if (has_columns) MakeColumns(work, line, to);
  }
}

HPU_VECTORIZED(RunLines, Lines, MakeLines)

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
        lines_(product.outer * to_height_) {
    // Indices of vectors have 32 bits.
    if (inner_ < kShortInner && from_line_ <= std::numeric_limits<int32_t>::max()) LayOutGathered();
  }

  absl::Status Run(const KernelCall& call) const override {
    const GatheredLine gathered{nullptr,         nullptr, places_.data(),
                                weights_.data(), layers_, layers_ == 0 ? 0 : to_line_};
    RunShards(call.pool, lines_, ShardSize(4 * (from_line_ + to_line_)), [&](Shard shard) {
      // Kept per thread: a launch allocates nothing.
      thread_local std::vector<float> line;
      if (static_cast<int64_t>(line.size()) < from_line_) line.resize(from_line_);
      RunLines({static_cast<const float*>(call.operands[0]), static_cast<float*>(call.results[0]), line.data(),
                &vertical_, &horizontal_, &gathered, shard.begin, shard.end, height_, to_height_, from_line_, to_line_,
                inner_});
    });
    return absl::OkStatus();
  }

 private:
  void LayOutGathered() {
    for (int64_t row = 0; row < horizontal_.size(); ++row) {
      layers_ = std::max(layers_, horizontal_.ends[row + 1] - horizontal_.ends[row]);
    }
    places_.resize(layers_ * to_line_);
    weights_.resize(layers_ * to_line_);
    for (int64_t row = 0; row < horizontal_.size(); ++row) {
      const int64_t first = horizontal_.ends[row];
      for (int64_t layer = 0; layer < horizontal_.ends[row + 1] - first; ++layer) {
        const Entry& entry = horizontal_.entries[first + layer];
        for (int64_t i = 0; i < inner_; ++i) {
          places_[layer * to_line_ + row * inner_ + i] = static_cast<int32_t>(entry.begin + i);
          weights_[layer * to_line_ + row * inner_ + i] = entry.weight;
        }
      }
    }
  }

  const int64_t height_, inner_, from_line_;
  const Rows vertical_, horizontal_;
  const int64_t to_height_, to_line_, lines_;
  // Of short inner sizes.
  int64_t layers_ = 0;
  std::vector<int32_t> places_;
  std::vector<float> weights_;
};

// Takes a matrix with `columns` columns off the parameters: the number of rows, then of each row the number of its
// entries and these. False if they are none.
bool Parse(int64_t columns, absl::Span<const int64_t>* parameters, SparseMatrix* matrix) {
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
      entry.weight = absl::bit_cast<float>(static_cast<uint32_t>(take()));
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
      parameters->insert(parameters->end(), {entry.column, absl::bit_cast<uint32_t>(entry.weight)});
    }
  }
}

absl::StatusOr<std::unique_ptr<const Kernel>> Make(absl::Span<const int64_t> parameters) {
  if (parameters.size() >= 4 && *std::min_element(parameters.begin(), parameters.begin() + 4) > 0) {
    SparseProduct product{parameters[0], parameters[1], parameters[2], parameters[3], {}, {}};
    parameters.remove_prefix(4);
    if (Parse(product.height, &parameters, &product.vertical) &&
        Parse(product.width, &parameters, &product.horizontal) && parameters.empty() &&
        product.vertical.rows.size() + product.horizontal.rows.size() > 0) {
      return std::make_unique<SparseProductKernel>(product);
    }
  }
  return absl::InvalidArgumentError("not the parameters of a sparse product");
}

const bool registered = RegisterKernel(kName, Make);

}  // namespace

KernelSpec SparseProduct::Spec() const {
  KernelSpec spec{kName, {outer, height, width, inner}};
  Append(vertical, &spec.parameters);
  Append(horizontal, &spec.parameters);
  return spec;
}

}  // namespace hpu::emulator
