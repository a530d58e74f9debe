#include "plugin/backends/emulator/kernels/concatenation.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "plugin/backends/emulator/kernels/parallel.h"

namespace hpu::emulator {
namespace {

constexpr char kConcatenationName[] = "concatenation.2";

class ConcatenationKernel final : public Kernel {
 public:
  ConcatenationKernel(Concatenation concatenation, int64_t row_bytes)
      : concatenation_(std::move(concatenation)), row_bytes_(row_bytes) {}

  absl::Status Run(const KernelCall& call) const override {
    // Splits by bytes, because rows may be few and long.
    RunShards(call.pool, concatenation_.outer * row_bytes_, ShardSize(2), [&](Shard shard) {
      for (int64_t at = shard.begin; at < shard.end;) {
        const int64_t row = at / row_bytes_, begin = at - row * row_bytes_;
        const int64_t end = std::min(row_bytes_, begin + shard.end - at);
        CopyRow(call, row, begin, end);
        at += end - begin;
      }
    });
    return absl::OkStatus();
  }

 private:
  // Copies the bytes from `begin` to `end` of a row of the result.
  void CopyRow(const KernelCall& call, int64_t row, int64_t begin, int64_t end) const {
    auto* const to = static_cast<char*>(call.results[0]) + row * row_bytes_;
    int64_t piece_begin = 0;
    for (size_t i = 0; i < concatenation_.pieces.size() && piece_begin < end; ++i) {
      const Concatenation::Piece& piece = concatenation_.pieces[i];
      const int64_t first = std::max(begin, piece_begin), last = std::min(end, piece_begin + piece.bytes);
      if (first < last) {
        const auto* from = static_cast<const char*>(call.operands[i]) + row * piece.row_bytes + piece.offset;
        std::memcpy(to + first, from + (first - piece_begin), last - first);
      }
      piece_begin += piece.bytes;
    }
  }

  const Concatenation concatenation_;
  const int64_t row_bytes_;  // bytes of a row of the result
};

absl::StatusOr<std::unique_ptr<const Kernel>> MakeConcatenation(absl::Span<const int64_t> parameters) {
  const auto refuse = [] {
    return absl::InvalidArgumentError(
        "expected outer > 0, then row_bytes, offset and bytes > 0 of each operand, with offset + bytes <= row_bytes");
  };
  if (parameters.size() < 4 || parameters.size() % 3 != 1 || parameters[0] <= 0) return refuse();
  Concatenation concatenation{parameters[0], {}};
  for (size_t i = 1; i < parameters.size(); i += 3) {
    const Concatenation::Piece piece{parameters[i], parameters[i + 1], parameters[i + 2]};
    if (piece.bytes <= 0 || piece.offset < 0 || piece.bytes > piece.row_bytes ||
        piece.offset > piece.row_bytes - piece.bytes)
      return refuse();
    concatenation.pieces.push_back(piece);
  }
  int64_t row_bytes = 0, all;
  for (const Concatenation::Piece& piece : concatenation.pieces) {
    if (__builtin_add_overflow(row_bytes, piece.bytes, &row_bytes)) return refuse();
  }
  if (__builtin_mul_overflow(row_bytes, concatenation.outer, &all)) return refuse();
  return std::make_unique<ConcatenationKernel>(std::move(concatenation), row_bytes);
}

const bool concatenation_registered = RegisterKernel(kConcatenationName, MakeConcatenation);

}  // namespace

KernelSpec Concatenation::Spec() const {
  KernelSpec spec{kConcatenationName, {outer}};
  for (const Piece& piece : pieces) {
    spec.parameters.insert(spec.parameters.end(), {piece.row_bytes, piece.offset, piece.bytes});
  }
  return spec;
}

}  // namespace hpu::emulator
