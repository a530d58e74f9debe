#include "plugin/backends/emulator/kernels/concatenation.h"

#include <cstring>
#include <memory>
#include <utility>

#include "plugin/backends/emulator/kernels/parallel.h"

namespace hpu::emulator {
namespace {

constexpr char kName[] = "concatenation.2";

class ConcatenationKernel final : public Kernel {
 public:
  explicit ConcatenationKernel(Concatenation concatenation) : concatenation_(std::move(concatenation)) {
    for (const Concatenation::Piece& piece : concatenation_.pieces) row_bytes_ += piece.bytes;
  }

  absl::Status Run(const KernelCall& call) const override {
    RunShards(call.pool, concatenation_.outer, ShardSize(2 * row_bytes_), [&](Shard shard) {
      auto* to = static_cast<char*>(call.results[0]) + shard.begin * row_bytes_;
      for (int64_t row = shard.begin; row < shard.end; ++row) {
        for (size_t i = 0; i < concatenation_.pieces.size(); ++i) {
          const Concatenation::Piece& piece = concatenation_.pieces[i];
          const auto* from = static_cast<const char*>(call.operands[i]) + row * piece.row_bytes + piece.offset;
          std::memcpy(to, from, piece.bytes);
          to += piece.bytes;
        }
      }
    });
    return absl::OkStatus();
  }

 private:
  Concatenation concatenation_;
  int64_t row_bytes_ = 0;
};

absl::StatusOr<std::unique_ptr<const Kernel>> Make(absl::Span<const int64_t> parameters) {
  const auto refuse = [] { return absl::InvalidArgumentError("not the parameters of a concatenation"); };
  if (parameters.size() < 4 || parameters.size() % 3 != 1 || parameters[0] <= 0) return refuse();
  Concatenation concatenation{parameters[0], {}};
  for (size_t i = 1; i < parameters.size(); i += 3) {
    const Concatenation::Piece piece{parameters[i], parameters[i + 1], parameters[i + 2]};
    if (piece.bytes <= 0 || piece.offset < 0 || piece.offset > piece.row_bytes - piece.bytes) return refuse();
    concatenation.pieces.push_back(piece);
  }
  return std::make_unique<ConcatenationKernel>(std::move(concatenation));
}

const bool registered = RegisterKernel(kName, Make);

}  // namespace

KernelSpec Concatenation::Spec() const {
  KernelSpec spec{kName, {outer}};
  for (const Piece& piece : pieces) {
    spec.parameters.insert(spec.parameters.end(), {piece.row_bytes, piece.offset, piece.bytes});
  }
  return spec;
}

}  // namespace hpu::emulator
