#include "plugin/backends/emulator/kernels/concatenation.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>

#include "plugin/backends/emulator/kernels/parallel.h"

namespace hpu::emulator {
namespace {

constexpr char kName[] = "concatenation.1";

class ConcatenationKernel final : public Kernel {
 public:
  ConcatenationKernel(int64_t outer, std::vector<int64_t> row_bytes)
      : outer_(outer),
        row_bytes_(std::move(row_bytes)),
        all_bytes_(std::accumulate(row_bytes_.begin(), row_bytes_.end(), int64_t{0})) {}

  absl::Status Run(const KernelCall& call) const override {
    RunShards(call.pool, outer_, ShardSize(2 * all_bytes_), [&](Shard shard) {
      auto* to = static_cast<char*>(call.results[0]) + shard.begin * all_bytes_;
      for (int64_t row = shard.begin; row < shard.end; ++row) {
        for (size_t i = 0; i < row_bytes_.size(); ++i) {
          std::memcpy(to, static_cast<const char*>(call.operands[i]) + row * row_bytes_[i], row_bytes_[i]);
          to += row_bytes_[i];
        }
      }
    });
    return absl::OkStatus();
  }

 private:
  const int64_t outer_;
  const std::vector<int64_t> row_bytes_;
  const int64_t all_bytes_;
};

absl::StatusOr<std::unique_ptr<const Kernel>> Make(absl::Span<const int64_t> parameters) {
  if (parameters.size() < 2 || *std::min_element(parameters.begin(), parameters.end()) <= 0) {
    return absl::InvalidArgumentError("not the parameters of a concatenation");
  }
  return std::make_unique<ConcatenationKernel>(parameters[0],
                                               std::vector<int64_t>(parameters.begin() + 1, parameters.end()));
}

const bool registered = RegisterKernel(kName, Make);

}  // namespace

KernelSpec Concatenation::Spec() const {
  KernelSpec spec{kName, {outer}};
  spec.parameters.insert(spec.parameters.end(), row_bytes.begin(), row_bytes.end());
  return spec;
}

}  // namespace hpu::emulator
