#include "plugin/backends/emulator/kernels/padding.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include "plugin/backends/emulator/kernels/parallel.h"

namespace hpu::emulator {
namespace {

constexpr char kName[] = "padding.1";
// Limit of sizes, so that sums and differences of a few of them fit in 64 bits.
constexpr int64_t kMaxElements = std::numeric_limits<int64_t>::max() / 64;

struct Complex128 {
  double real, imaginary;
};

template <typename T>
void FillWith(const char* value, int64_t count, void* to) {
  T element;
  std::memcpy(&element, value, sizeof(T));
  std::fill_n(static_cast<T*>(to), count, element);
}

// Fills memory with copies of one element.
class Filler {
 public:
  Filler(const void* value, int64_t bytes) : bytes_(bytes) {
    std::memcpy(value_, value, bytes);
    same_bytes_ = std::all_of(value_, value_ + bytes, [this](char byte) { return byte == value_[0]; });
  }

  void Fill(char* to, int64_t count) const {
    if (count == 0) return;
    if (same_bytes_) {
      std::memset(to, value_[0], count * bytes_);
      return;
    }
    switch (bytes_) {
      case 2:
        return FillWith<uint16_t>(value_, count, to);
      case 4:
        return FillWith<uint32_t>(value_, count, to);
      case 8:
        return FillWith<uint64_t>(value_, count, to);
      default:
        return FillWith<Complex128>(value_, count, to);
    }
  }

 private:
  char value_[sizeof(Complex128)];
  const int64_t bytes_;
  bool same_bytes_;
};

class PaddingKernel final : public Kernel {
 public:
  explicit PaddingKernel(Padding padding) : padding_(std::move(padding)), row_(padding_.dimensions.back()) {
    padding_.dimensions.pop_back();
    for (const Padding::Dimension& dimension : padding_.dimensions) rows_ *= dimension.result;
    copy_begin_ = std::clamp<int64_t>(row_.low, 0, row_.result);
    copy_end_ = std::clamp<int64_t>(row_.low + row_.operand, copy_begin_, row_.result);
  }

  absl::Status Run(const KernelCall& call) const override {
    const Filler filler(call.operands[1], padding_.element_bytes);
    // Splits by elements, because rows may be few and long.
    RunShards(call.pool, rows_ * row_.result, ShardSize(2 * padding_.element_bytes), [&](Shard shard) {
      Place place(padding_.dimensions, shard.begin / row_.result);
      int64_t begin = shard.begin % row_.result;
      for (int64_t at = shard.begin; at < shard.end; place.Next()) {
        const int64_t end = std::min(row_.result, begin + shard.end - at);
        MakeRow(place, begin, end, filler, static_cast<const char*>(call.operands[0]),
                static_cast<char*>(call.results[0]) + at * padding_.element_bytes);
        at += end - begin;
        begin = 0;
      }
    });
    return absl::OkStatus();
  }

 private:
  // A row of the result, and the operand's row in it.
  class Place {
   public:
    Place(const std::vector<Padding::Dimension>& dimensions, int64_t row)
        : dimensions_(dimensions), indices_(dimensions.size()) {
      for (size_t i = dimensions.size(); i-- > 0; row /= dimensions[i].result) indices_[i] = row % dimensions[i].result;
    }

    void Next() {
      for (size_t i = dimensions_.size(); i-- > 0;) {
        if (++indices_[i] < dimensions_[i].result) return;
        indices_[i] = 0;
      }
    }

    // -1 if the row is all padding.
    int64_t OperandRow() const {
      int64_t row = 0;
      for (size_t i = 0; i < dimensions_.size(); ++i) {
        const Padding::Dimension& dimension = dimensions_[i];
        const int64_t index = indices_[i] - dimension.low;
        if (index < 0 || index >= dimension.operand) return -1;
        row = row * dimension.operand + index;
      }
      return row;
    }

   private:
    const std::vector<Padding::Dimension>& dimensions_;
    std::vector<int64_t> indices_;
  };

  // Writes the row's elements from `begin` to `end`; `to` is the address of the first one.
  void MakeRow(const Place& place, int64_t begin, int64_t end, const Filler& filler, const char* from, char* to) const {
    const int64_t bytes = padding_.element_bytes, row = place.OperandRow();
    if (row < 0) return filler.Fill(to, end - begin);
    const int64_t first = std::clamp(copy_begin_, begin, end), last = std::clamp(copy_end_, begin, end);
    filler.Fill(to, first - begin);
    if (first < last) {
      std::memcpy(to + (first - begin) * bytes, from + (row * row_.operand + first - row_.low) * bytes,
                  (last - first) * bytes);
    }
    filler.Fill(to + (last - begin) * bytes, end - last);
  }

  Padding padding_;  // without the last dimension
  const Padding::Dimension row_;
  int64_t rows_ = 1;
  // Range of a row that comes from the operand.
  int64_t copy_begin_;
  int64_t copy_end_;
};

// Whether nothing is padded or cropped.
bool IsPlain(const Padding::Dimension& d) { return d.low == 0 && d.operand == d.result; }

// Parameters: element_bytes, then each dimension.
absl::StatusOr<std::unique_ptr<const Kernel>> Make(absl::Span<const int64_t> parameters) {
  const absl::Status error = absl::InvalidArgumentError(
      "expected element_bytes (a power of two up to 16), then positive operand and result sizes and low padding of "
      "each dimension");
  if (parameters.size() < 4 || parameters.size() % 3 != 1) return error;
  Padding padding{parameters[0], {}};
  if (padding.element_bytes < 1 || padding.element_bytes > 16 ||
      (padding.element_bytes & (padding.element_bytes - 1)) != 0) {
    return error;
  }
  int64_t operand_bytes = padding.element_bytes, result_bytes = padding.element_bytes;
  for (size_t i = 1; i < parameters.size(); i += 3) {
    const Padding::Dimension d{parameters[i], parameters[i + 1], parameters[i + 2]};
    if (d.operand <= 0 || d.result <= 0 || d.low < -kMaxElements || d.low > kMaxElements ||
        __builtin_mul_overflow(operand_bytes, d.operand, &operand_bytes) || operand_bytes > kMaxElements ||
        __builtin_mul_overflow(result_bytes, d.result, &result_bytes) || result_bytes > kMaxElements) {
      return error;
    }
    padding.dimensions.push_back(d);
  }
  return std::make_unique<PaddingKernel>(std::move(padding));
}

const bool registered = RegisterKernel(kName, Make);

}  // namespace

Padding Padding::Simplified() const {
  Padding simplified{element_bytes, {}};
  for (const Dimension& d : dimensions) {
    if (simplified.dimensions.empty()) {
      simplified.dimensions.push_back(d);
      continue;
    }
    Dimension& before = simplified.dimensions.back();
    if (IsPlain(before) && before.result == 1) {
      before = d;
    } else if (IsPlain(d)) {
      before = {before.operand * d.operand, before.result * d.operand, before.low * d.operand};
    } else {
      simplified.dimensions.push_back(d);
    }
  }
  return simplified;
}

KernelSpec Padding::Spec() const {
  KernelSpec spec{kName, {element_bytes}};
  for (const Dimension& d : dimensions) {
    spec.parameters.insert(spec.parameters.end(), {d.operand, d.result, d.low});
  }
  return spec;
}

}  // namespace hpu::emulator
