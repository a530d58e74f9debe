#include "plugin/tensorflow/kernels/eager/where_indices.h"

#include <emmintrin.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <numeric>

namespace hpu {
namespace {

constexpr int64_t kWord = 64;  // flags that are tested together
constexpr int64_t kParts = kWord / sizeof(__m128i);

// Bit mask of 64 flags: bit i is set if flag i is true.
uint64_t TrueBits(const char* flags) {
  uint64_t bits = 0;
  for (int64_t i = 0; i < kParts; ++i) {
    const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(flags) + i);
    const int zeros = _mm_movemask_epi8(_mm_cmpeq_epi8(part, _mm_setzero_si128()));
    bits |= static_cast<uint64_t>(static_cast<uint16_t>(~zeros)) << (i * sizeof(__m128i));
  }
  return bits;
}

// Bit mask of `count` < 64 flags.
uint64_t TrueBits(const char* flags, int64_t count) {
  char word[kWord] = {};
  std::memcpy(word, flags, count);
  return TrueBits(word);
}

// Computes coordinates from the row of the previous flag. Callers must pass flags in ascending order.
template <int kRank>
class ByRow {
 public:
  ByRow(absl::Span<const int64_t> sizes, int64_t begin) : length_(sizes[kRank - 1]) {
    std::copy_n(sizes.begin(), kRank - 1, sizes_.begin());
    Seek(begin / length_);
  }

  void Write(int64_t at, int64_t* __restrict coordinates) {
    if (at >= end_) MoveTo(at);
    for (int i = 0; i < kRank - 1; ++i) coordinates[i] = place_[i];
    coordinates[kRank - 1] = at - (end_ - length_);
  }

 private:
  void MoveTo(int64_t at) {
    // A division is slower than one step to the next row, but faster than several steps.
    if (at - end_ >= length_) return Seek(at / length_);
    end_ += length_;
    for (int i = kRank - 2; i >= 0; --i) {
      if (++place_[i] < sizes_[i]) return;
      place_[i] = 0;
    }
  }

  void Seek(int64_t row) {
    end_ = (row + 1) * length_;
    for (int i = kRank - 2; i >= 0; --i) {
      place_[i] = row % sizes_[i];
      row /= sizes_[i];
    }
  }

  const int64_t length_;
  int64_t end_ = 0;  // the first flag after the current row
  // Sizes and coordinates of the dimensions before the last.
  std::array<int64_t, kRank - 1> sizes_{};
  std::array<int64_t, kRank - 1> place_{};
};

// Computes coordinates by division, implemented as a multiplication by 2^63 / size. The factor is rounded up. For
// arrays of at most 2^31 flags, the error of a quotient is less than at / 2^63 < 1 / size, which is harmless.
template <int kRank>
class ByDivision {
 public:
  static constexpr int64_t kMaxFlags = int64_t{1} << 31;

  ByDivision(absl::Span<const int64_t> sizes, int64_t) {
    for (int i = 1; i < kRank; ++i) {
      sizes_[i] = sizes[i];
      inverses_[i] = ((uint64_t{1} << 63) - 1) / sizes[i] + 1;
    }
  }

  void Write(int64_t at, int64_t* __restrict coordinates) {
    for (int i = kRank - 1; i > 0; --i) {
      const auto quotient = static_cast<int64_t>(static_cast<unsigned __int128>(inverses_[i]) * at >> 63);
      coordinates[i] = at - quotient * sizes_[i];
      at = quotient;
    }
    coordinates[0] = at;
  }

 private:
  std::array<int64_t, kRank> sizes_{};
  std::array<uint64_t, kRank> inverses_{};
};

struct Range {
  const char* flags;
  absl::Span<const int64_t> sizes;
  int64_t begin, end;
};

template <int kRank, typename Finder>
int64_t* WriteBy(const Range& range, int64_t* coordinates) {
  Finder finder(range.sizes, range.begin);
  for (int64_t first = range.begin; first < range.end; first += kWord) {
    const int64_t count = range.end - first;
    uint64_t bits = count >= kWord ? TrueBits(range.flags + first) : TrueBits(range.flags + first, count);
    for (; bits != 0; bits &= bits - 1) {
      finder.Write(first + __builtin_ctzll(bits), coordinates);
      coordinates += kRank;
    }
  }
  return coordinates;
}

template <int kRank>
int64_t* Write(const Range& range, int64_t* coordinates) {
  // ByRow mispredicts a branch at the end of each row, which is slow for short rows.
  constexpr int64_t kShortRow = 64;
  const int64_t flags = std::accumulate(range.sizes.begin(), range.sizes.end(), int64_t{1}, std::multiplies<int64_t>());
  if (kRank > 1 && range.sizes[kRank - 1] < kShortRow && flags <= ByDivision<kRank>::kMaxFlags) {
    return WriteBy<kRank, ByDivision<kRank>>(range, coordinates);
  }
  return WriteBy<kRank, ByRow<kRank>>(range, coordinates);
}

}  // namespace

int64_t CountTrue(const void* flags, int64_t count) {
  const auto* bytes = static_cast<const char*>(flags);
  const __m128i one = _mm_set1_epi8(1);
  __m128i sums = _mm_setzero_si128();
  int64_t i = 0;
  for (; count - i >= static_cast<int64_t>(sizeof(__m128i)); i += sizeof(__m128i)) {
    const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + i));
    sums = _mm_add_epi64(sums, _mm_sad_epu8(_mm_min_epu8(part, one), _mm_setzero_si128()));
  }
  int64_t halves[2];
  std::memcpy(halves, &sums, sizeof(halves));
  return halves[0] + halves[1] + std::count_if(bytes + i, bytes + count, [](char flag) { return flag != 0; });
}

int64_t* WriteWhereIndices(const void* flags, absl::Span<const int64_t> sizes, int64_t begin, int64_t end,
                           int64_t* coordinates) {
  using Writer = int64_t* (*)(const Range&, int64_t*);
  static constexpr Writer kWriters[kMaxRank] = {&Write<1>, &Write<2>, &Write<3>, &Write<4>,
                                                &Write<5>, &Write<6>, &Write<7>, &Write<8>};
  return kWriters[sizes.size() - 1]({static_cast<const char*>(flags), sizes, begin, end}, coordinates);
}

}  // namespace hpu
