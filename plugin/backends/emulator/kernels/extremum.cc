#include "plugin/backends/emulator/kernels/extremum.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "plugin/backends/emulator/kernels/bfloat16.h"
#include "plugin/backends/emulator/kernels/lanes.h"
#include "plugin/backends/emulator/kernels/parallel.h"
#include "plugin/backends/emulator/kernels/vectorize.h"

namespace hpu::emulator {
namespace {

constexpr char kName[] = "extremum.2";
// Maximum number of elements in one step of OverLanes; each lane has its own extremum.
constexpr int kLanes = 64;
// Columns that a thread processes at once, so that their extrema stay in the first-level cache.
constexpr int64_t kMaxColumns = 128;
// Longer rows are split into sections of this size, because there may be fewer rows than threads.
constexpr int64_t kMaxRow = 64 << 10;

template <bool is_min>
struct Order {
  static constexpr float kInitial =
      is_min ? std::numeric_limits<float>::infinity() : -std::numeric_limits<float>::infinity();
  static HPU_INLINE bool Keeps(float best, float x) { return is_min ? best <= x : best >= x; }
  static HPU_INLINE bool Beats(float x, float best) { return is_min ? x < best : x > best; }
  // Returns NaN if one of the operands is NaN.
  static HPU_INLINE float Of(float best, float x) {
    const float better = Keeps(best, x) ? best : x;
    return best != best ? best : better;
  }
};

// Value and position of the extremum of a row, or of a section of a row.
struct Place {
  float value;
  int32_t place;  // relative to the start of the row or section
  bool nan;       // whether the row or section contains a NaN
};

// Columns of one outer index, with `size` rows that are `stride` elements apart. If `stride` is 1: `columns`
// consecutive rows of `size` elements.
template <typename T>
struct Work {
  const T* from;
  T* values;        // destination of the values, or null
  int32_t* places;  // destination of the positions, or null
  Place* found;     // destination for a section of a row, or null
  int64_t size;
  int64_t stride;
  int64_t columns;
};

template <typename T, bool is_min>
HPU_INLINE void PlacesOfColumns(const Work<T>& work) {
  float extrema[kMaxColumns];
  for (int64_t c = 0; c < work.columns; ++c) {
    extrema[c] = Order<is_min>::kInitial;
    work.places[c] = 0;
  }
  const T* from = work.from;
  for (int64_t i = 0; i < work.size; ++i, from += work.stride) {
    const auto place = static_cast<int32_t>(i);
    HPU_SIMD
    for (int64_t c = 0; c < work.columns; ++c) {
      const float x = Load(from + c), best = extrema[c];
      const bool keeps = Order<is_min>::Keeps(best, x);
      extrema[c] = keeps ? best : x;
      work.places[c] = keeps ? work.places[c] : place;
    }
  }
}

template <typename T, bool is_min>
HPU_INLINE void ValuesOfColumns(const Work<T>& work) {
  float extrema[kMaxColumns];
  for (int64_t c = 0; c < work.columns; ++c) extrema[c] = Order<is_min>::kInitial;
  const T* from = work.from;
  for (int64_t i = 0; i < work.size; ++i, from += work.stride) {
    HPU_SIMD
    for (int64_t c = 0; c < work.columns; ++c) extrema[c] = Order<is_min>::Of(extrema[c], Load(from + c));
  }
  for (int64_t c = 0; c < work.columns; ++c) StoreExact(extrema[c], work.values + c);
}

// A row, and for each lane the extremum, its position and whether there was a NaN.
template <typename T>
struct RowWork {
  const T* row;
  float* values;
  int32_t* places;
  int32_t* nans;
};

template <bool is_min>
struct PlaceLanes {
  template <int n, typename T>
  static HPU_INLINE void Run(const RowWork<T>& lanes, int64_t lane) {
    HPU_SIMD
    for (int i = 0; i < n; ++i) {
      const float x = Load(lanes.row + lane + i), best = lanes.values[i];
      const bool beats = Order<is_min>::Beats(x, best);
      lanes.values[i] = beats ? x : best;
      lanes.places[i] = beats ? static_cast<int32_t>(lane) + i : lanes.places[i];
      lanes.nans[i] |= x != x ? 1 : 0;
    }
  }
};

template <bool is_min>
struct ValueLanes {
  template <int n, typename T>
  static HPU_INLINE void Run(const RowWork<T>& lanes, int64_t lane) {
    HPU_SIMD
    for (int i = 0; i < n; ++i) lanes.values[i] = Order<is_min>::Of(lanes.values[i], Load(lanes.row + lane + i));
  }
};

template <typename T, bool is_min>
HPU_INLINE Place PlaceInRow(const T* row, int64_t size) {
  float values[kLanes];
  int32_t places[kLanes] = {}, nans[kLanes] = {};
  std::fill_n(values, kLanes, Order<is_min>::kInitial);
  OverLanes<PlaceLanes<is_min>>(RowWork<T>{row, values, places, nans}, 0, size);
  int32_t nan = 0;
  for (int i = 0; i < kLanes; ++i) nan |= nans[i];
  float best = values[0];
  int32_t place = places[0];
  for (int i = 1; i < kLanes; ++i) {
    if (Order<is_min>::Beats(values[i], best) || (values[i] == best && places[i] < place)) {
      best = values[i];
      place = places[i];
    }
  }
  if (nan == 0) return {best, place, false};
  best = Order<is_min>::kInitial;
  place = 0;
  for (int64_t i = 0; i < size; ++i) {
    const float x = Load(row + i);
    if (Order<is_min>::Keeps(best, x)) continue;
    best = x;
    place = static_cast<int32_t>(i);
  }
  return {best, place, true};
}

// Combines all lanes into lane 0 by halving; a sequential loop would take longer than a short row.
template <int n, bool is_min>
HPU_INLINE void FoldLanes(float* values) {
  HPU_SIMD
  for (int i = 0; i < n / 2; ++i) values[i] = Order<is_min>::Of(values[i], values[i + n / 2]);
  if constexpr (n > 2) FoldLanes<n / 2, is_min>(values);
}

template <typename T, bool is_min>
HPU_INLINE float ValueInRow(const T* row, int64_t size) {
  float values[kLanes];
  std::fill_n(values, kLanes, Order<is_min>::kInitial);
  OverLanes<ValueLanes<is_min>>(RowWork<T>{row, values, nullptr, nullptr}, 0, size);
  FoldLanes<kLanes, is_min>(values);
  if (values[0] != 0) return values[0];
  // Returns the first zero if there are zeros of both signs.
  while (Load(row) != 0) ++row;
  return Load(row);
}

template <typename T, bool is_min>
HPU_INLINE void PlacesOfRows(const Work<T>& work) {
  for (int64_t i = 0; i < work.columns; ++i) {
    work.places[i] = PlaceInRow<T, is_min>(work.from + i * work.size, work.size).place;
  }
}

template <typename T, bool is_min>
HPU_INLINE void ValuesOfRows(const Work<T>& work) {
  for (int64_t i = 0; i < work.columns; ++i) {
    StoreExact(ValueInRow<T, is_min>(work.from + i * work.size, work.size), work.values + i);
  }
}

template <typename T, bool is_min>
HPU_INLINE void Find(const Work<T>& work) {
  if (work.found != nullptr) {
    *work.found = PlaceInRow<T, is_min>(work.from, work.size);
    return;
  }
  if (work.places != nullptr) {
    return work.stride == 1 ? PlacesOfRows<T, is_min>(work) : PlacesOfColumns<T, is_min>(work);
  }
  return work.stride == 1 ? ValuesOfRows<T, is_min>(work) : ValuesOfColumns<T, is_min>(work);
}

HPU_VECTORIZED(FindGreatest, Work<float>, (Find<float, false>))
HPU_VECTORIZED(FindLeast, Work<float>, (Find<float, true>))
HPU_VECTORIZED(FindGreatestBFloat16, Work<BFloat16>, (Find<BFloat16, false>))
HPU_VECTORIZED(FindLeastBFloat16, Work<BFloat16>, (Find<BFloat16, true>))

// Combines the result of a row's first `begin` elements with the result of the next section, exactly as one loop over
// both would.
template <bool is_min>
Place Append(const Place& row, const Place& piece, int64_t begin) {
  if (!piece.nan && Order<is_min>::Keeps(row.value, piece.value)) return row;
  return {piece.value, static_cast<int32_t>(begin) + piece.place, piece.nan};
}

class ExtremumKernel final : public Kernel {
 public:
  explicit ExtremumKernel(const Extremum& extremum) : extremum_(extremum) {}

  absl::Status Run(const KernelCall& call) const override {
    if (extremum_.bfloat16) {
      Run(call, extremum_.is_min ? FindLeastBFloat16 : FindGreatestBFloat16);
    } else {
      Run(call, extremum_.is_min ? FindLeast : FindGreatest);
    }
    return absl::OkStatus();
  }

 private:
  template <typename T>
  void Run(const KernelCall& call, void (*find)(const Work<T>&)) const {
    const auto* from = static_cast<const T*>(call.operands[0]);
    auto* values = extremum_.place ? nullptr : static_cast<T*>(call.results[0]);
    auto* places = extremum_.place ? static_cast<int32_t*>(call.results[0]) : nullptr;
    const int64_t size = extremum_.size, inner = extremum_.inner;
    const int64_t bytes = size * static_cast<int64_t>(sizeof(T));
    if (inner == 1 && size > kMaxRow) return RunLongRows(call, find, from, values, places);
    if (inner == 1) {
      RunShards(call.pool, extremum_.outer, ShardSize(bytes), [&](Shard shard) {
        find({from + shard.begin * size, values == nullptr ? nullptr : values + shard.begin,
              places == nullptr ? nullptr : places + shard.begin, nullptr, size, 1, shard.end - shard.begin});
      });
      return;
    }
    const int64_t pieces = (inner + kMaxColumns - 1) / kMaxColumns;
    RunShards(call.pool, extremum_.outer * pieces, ShardSize(bytes * std::min(inner, kMaxColumns)), [&](Shard shard) {
      for (int64_t i = shard.begin; i < shard.end; ++i) {
        const int64_t outer = i / pieces, column = i % pieces * kMaxColumns, to = outer * inner + column;
        find({from + outer * size * inner + column, values == nullptr ? nullptr : values + to,
              places == nullptr ? nullptr : places + to, nullptr, size, inner, std::min(kMaxColumns, inner - column)});
      }
    });
  }

  template <typename T>
  void RunLongRows(const KernelCall& call, void (*find)(const Work<T>&), const T* from, T* values,
                   int32_t* places) const {
    const int64_t size = extremum_.size, pieces = (size + kMaxRow - 1) / kMaxRow, all = extremum_.outer * pieces;
    // Kept per thread, so that a launch allocates nothing.
    thread_local std::vector<T> kept_values;
    thread_local std::vector<Place> kept_places;
    if (values != nullptr && static_cast<int64_t>(kept_values.size()) < all) kept_values.resize(all);
    if (places != nullptr && static_cast<int64_t>(kept_places.size()) < all) kept_places.resize(all);
    T* const piece_values = values == nullptr ? nullptr : kept_values.data();
    Place* const piece_places = places == nullptr ? nullptr : kept_places.data();
    RunShards(call.pool, all, ShardSize(kMaxRow * static_cast<int64_t>(sizeof(T))), [&](Shard shard) {
      for (int64_t i = shard.begin; i < shard.end; ++i) {
        const int64_t begin = i % pieces * kMaxRow;
        find({from + i / pieces * size + begin, values == nullptr ? nullptr : piece_values + i, nullptr,
              places == nullptr ? nullptr : piece_places + i, std::min(kMaxRow, size - begin), 1, 1});
      }
    });
    if (values != nullptr) return find({piece_values, values, nullptr, nullptr, pieces, 1, extremum_.outer});
    for (int64_t row = 0; row < extremum_.outer; ++row) {
      const Place* of_row = piece_places + row * pieces;
      Place place = of_row[0];
      for (int64_t i = 1; i < pieces; ++i) {
        place = extremum_.is_min ? Append<true>(place, of_row[i], i * kMaxRow)
                                 : Append<false>(place, of_row[i], i * kMaxRow);
      }
      places[row] = place.place;
    }
  }

  const Extremum extremum_;
};

absl::StatusOr<std::unique_ptr<const Kernel>> Make(absl::Span<const int64_t> parameters) {
  if (parameters.size() != 6 || parameters[0] >> 1 != 0 || parameters[1] >> 1 != 0 || parameters[2] >> 1 != 0 ||
      *std::min_element(parameters.begin() + 3, parameters.end()) <= 0 ||
      (parameters[0] != 0 && parameters[4] > std::numeric_limits<int32_t>::max())) {
    return absl::InvalidArgumentError(
        "expected 6 parameters: place, is_min and bfloat16 (each 0 or 1), and positive outer, size and inner; with "
        "place = 1, size must be less than 2^31");
  }
  return std::make_unique<ExtremumKernel>(Extremum{parameters[0] != 0, parameters[1] != 0, parameters[2] != 0,
                                                   parameters[3], parameters[4], parameters[5]});
}

const bool registered = RegisterKernel(kName, Make);

}  // namespace

KernelSpec Extremum::Spec() const { return {kName, {place, is_min, bfloat16, outer, size, inner}}; }

}  // namespace hpu::emulator
