#include "plugin/backends/emulator/kernels/sorted_search.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "plugin/backends/emulator/kernels/parallel.h"
#include "plugin/backends/emulator/kernels/vectorize.h"

namespace hpu::emulator {
namespace {

constexpr char kSortedSearchName[] = "sorted_search.3";
// Number of values that are searched at once, so that steps of one search hide the memory latency of another.
constexpr int kBlock = 8;
// Longer rows of values are split over the pool.
constexpr int64_t kMaxOfRow = 4096;

template <typename T>
struct Work {
  const T* values;
  const T* bounds;
  int32_t* counts;
  int64_t size;
  int32_t bound_count;
  bool sorted;
};

template <bool or_equal, typename T>
HPU_INLINE bool IsBeyond(T value, T bound) {
  return or_equal ? value >= bound : value > bound;
}

// Binary search without branches, because a branch's outcome would be unpredictable. Not vectorised, because compilers
// would gather the elements one by one.
template <bool or_equal, int block, typename T>
HPU_INLINE void SearchBlock(const Work<T>& work, int64_t first) {
  const T* const values = work.values + first;
  int64_t indices[block] = {};
  for (int64_t left = work.bound_count; left > 1;) {
    const int64_t half = left / 2;
    const T* const middle = work.bounds + half - 1;
#pragma GCC unroll 8
    for (int i = 0; i < block; ++i) {
      indices[i] += half & -static_cast<int64_t>(IsBeyond<or_equal>(values[i], middle[indices[i]]));
    }
    left -= half;
  }
  for (int i = 0; i < block; ++i) {
    const bool beyond = IsBeyond<or_equal>(values[i], work.bounds[indices[i]]);
    work.counts[first + i] = static_cast<int32_t>(indices[i]) + (beyond ? 1 : 0);
  }
}

template <bool or_equal, typename T>
HPU_INLINE void CountBounds(const Work<T>& work) {
  for (int64_t i = 0; i < work.size; ++i) {
    const T value = work.values[i];
    int32_t count = 0;
    for (int32_t b = 0; b < work.bound_count; ++b) count += IsBeyond<or_equal>(value, work.bounds[b]) ? 1 : 0;
    work.counts[i] = count;
  }
}

template <bool or_equal, typename T>
HPU_INLINE void Search(const Work<T>& work) {
  if (!work.sorted) return CountBounds<or_equal>(work);
  int64_t i = 0;
  for (; i + kBlock <= work.size; i += kBlock) SearchBlock<or_equal, kBlock>(work, i);
  for (; i < work.size; ++i) SearchBlock<or_equal, 1>(work, i);
}

HPU_VECTORIZED(FindFirst, Work<float>, (Search<false, float>))
HPU_VECTORIZED(FindLast, Work<float>, (Search<true, float>))
HPU_VECTORIZED(FindFirstDouble, Work<double>, (Search<false, double>))
HPU_VECTORIZED(FindLastDouble, Work<double>, (Search<true, double>))
HPU_VECTORIZED(FindFirstInteger, Work<int32_t>, (Search<false, int32_t>))
HPU_VECTORIZED(FindLastInteger, Work<int32_t>, (Search<true, int32_t>))
HPU_VECTORIZED(FindFirstLong, Work<int64_t>, (Search<false, int64_t>))
HPU_VECTORIZED(FindLastLong, Work<int64_t>, (Search<true, int64_t>))

// A row with NaN counts as unsorted.
template <typename T>
bool IsSorted(const T* bounds, int64_t size) {
  if (bounds[0] != bounds[0]) return false;
  // Checks pieces without branches, which compilers vectorise.
  constexpr int64_t kPiece = 256;
  for (int64_t begin = 1; begin < size; begin += kPiece) {
    int unsorted = 0;
    for (int64_t i = begin; i < std::min(begin + kPiece, size); ++i) unsorted |= bounds[i - 1] <= bounds[i] ? 0 : 1;
    if (unsorted != 0) return false;
  }
  return true;
}

class SortedSearchKernel final : public Kernel {
 public:
  explicit SortedSearchKernel(const SortedSearch& search) : search_(search) {}

  absl::Status Run(const KernelCall& call) const override {
    switch (search_.type) {
      case NumberType::kFloat32:
        Run(call, search_.or_equal ? FindLast : FindFirst);
        break;
      case NumberType::kInt32:
        Run(call, search_.or_equal ? FindLastInteger : FindFirstInteger);
        break;
      case NumberType::kFloat64:
        Run(call, search_.or_equal ? FindLastDouble : FindFirstDouble);
        break;
      case NumberType::kInt64:
        Run(call, search_.or_equal ? FindLastLong : FindFirstLong);
    }
    return absl::OkStatus();
  }

 private:
  template <typename T>
  void Run(const KernelCall& call, void (*search)(const Work<T>&)) const {
    const auto* values = static_cast<const T*>(call.operands[0]);
    const auto* bounds = static_cast<const T*>(call.operands[1]);
    auto* counts = static_cast<int32_t*>(call.results[0]);
    const int64_t size = search_.values, count = search_.bounds;
    if (size <= kMaxOfRow) {
      return RunShards(call.pool, search_.rows, ShardSize(count * static_cast<int64_t>(sizeof(T)) + size * 64),
                       [&](Shard shard) {
                         for (int64_t row = shard.begin; row < shard.end; ++row) {
                           const T* const own = bounds + row * count;
                           search({values + row * size, own, counts + row * size, size, static_cast<int32_t>(count),
                                   IsSorted(own, count)});
                         }
                       });
    }
    std::vector<char> sorted(search_.rows);  // not vector<bool>: threads would write the same byte
    RunShards(call.pool, search_.rows, ShardSize(count * static_cast<int64_t>(sizeof(T))), [&](Shard shard) {
      for (int64_t row = shard.begin; row < shard.end; ++row) sorted[row] = IsSorted(bounds + row * count, count);
    });
    // Splits rows into pieces of equal size; only the last piece of a row may be shorter.
    const int64_t pieces = (size + kMaxOfRow - 1) / kMaxOfRow;
    RunShards(call.pool, search_.rows * pieces, ShardSize(kMaxOfRow * 64), [&](Shard shard) {
      for (int64_t i = shard.begin; i < shard.end; ++i) {
        const int64_t row = i / pieces, begin = i % pieces * kMaxOfRow, first = row * size + begin;
        search({values + first, bounds + row * count, counts + first, std::min(kMaxOfRow, size - begin),
                static_cast<int32_t>(count), sorted[row] != 0});
      }
    });
  }

  const SortedSearch search_;
};

absl::StatusOr<std::unique_ptr<const Kernel>> MakeSortedSearch(absl::Span<const int64_t> parameters) {
  if (parameters.size() != 5 || parameters[0] < 0 || parameters[0] >= kNumberTypes || parameters[1] >> 1 != 0 ||
      *std::min_element(parameters.begin() + 2, parameters.end()) <= 0 ||
      parameters[4] > std::numeric_limits<int32_t>::max()) {
    return absl::InvalidArgumentError(
        "expected 5 parameters: type (0: float32, 1: int32, 2: float64, 3: int64), or_equal (0 or 1), and positive "
        "rows, "
        "values and bounds; bounds must be less than 2^31");
  }
  return std::make_unique<SortedSearchKernel>(SortedSearch{static_cast<NumberType>(parameters[0]), parameters[1] != 0,
                                                           parameters[2], parameters[3], parameters[4]});
}

const bool sorted_search_registered = RegisterKernel(kSortedSearchName, MakeSortedSearch);

}  // namespace

KernelSpec SortedSearch::Spec() const {
  return {kSortedSearchName, {static_cast<int64_t>(type), or_equal, rows, values, bounds}};
}

}  // namespace hpu::emulator
