#include "plugin/backends/emulator/kernels/row_gather.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "plugin/backends/emulator/kernels/parallel.h"

namespace hpu::emulator {
namespace {

constexpr char kName[] = "row_gather.1";
constexpr int64_t kHeadParameters = 5;

class RowGatherKernel final : public Kernel {
 public:
  explicit RowGatherKernel(RowGather gather) : gather_(std::move(gather)) {}

  absl::Status Run(const KernelCall& call) const override {
    if (gather_.index_bytes == sizeof(int32_t)) {
      Run<int32_t>(call);
    } else {
      Run<int64_t>(call);
    }
    return absl::OkStatus();
  }

 private:
  template <typename Index>
  void Run(const KernelCall& call) const {
    const auto* from = static_cast<const char*>(call.operands[0]);
    const auto* indices = static_cast<const Index*>(call.operands[1]);
    auto* to = static_cast<char*>(call.results[0]);
    const int64_t row_bytes = gather_.row_bytes;
    // Splits by bytes, because rows may be few and long.
    RunShards(call.pool, gather_.outer * gather_.count * row_bytes, ShardSize(2), [&](Shard shard) {
      const int64_t first = shard.begin / row_bytes;
      int64_t outer = first / gather_.count, vector = first % gather_.count, begin = shard.begin % row_bytes;
      for (int64_t at = shard.begin; at < shard.end; begin = 0) {
        const int64_t bytes = std::min(row_bytes - begin, shard.end - at);
        const int64_t row = outer * gather_.rows + RowOf(indices + vector * gather_.components.size());
        std::memcpy(to + at, from + row * row_bytes + begin, bytes);
        at += bytes;
        if (++vector == gather_.count) {
          vector = 0;
          ++outer;
        }
      }
    });
  }

  template <typename Index>
  int64_t RowOf(const Index* vector) const {
    int64_t row = 0;
    for (size_t i = 0; i < gather_.components.size(); ++i) {
      const RowGather::Component& component = gather_.components[i];
      row += std::clamp<int64_t>(vector[i], 0, component.size - 1) * component.stride;
    }
    return row;
  }

  const RowGather gather_;
};

// Whether no index vector can address a row after the last one.
bool StaysInside(const RowGather& gather) {
  int64_t last = 0, distance;
  for (const RowGather::Component& component : gather.components) {
    if (component.size <= 0 || component.stride <= 0 ||
        __builtin_mul_overflow(component.size - 1, component.stride, &distance) ||
        __builtin_add_overflow(last, distance, &last)) {
      return false;
    }
  }
  return last < gather.rows;
}

// Parameters: index_bytes, outer, rows, row_bytes and count, then size and stride of each component.
absl::StatusOr<std::unique_ptr<const Kernel>> Make(absl::Span<const int64_t> parameters) {
  const absl::Status error = absl::InvalidArgumentError(
      "expected index_bytes (4 or 8), outer, rows, row_bytes and count, then size and stride of each component; all "
      "must be positive, and no index vector may address a row after the last one");
  if (parameters.size() <= kHeadParameters || parameters.size() % 2 != kHeadParameters % 2) return error;
  RowGather gather{parameters[0], parameters[1], parameters[2], parameters[3], parameters[4], {}};
  for (size_t i = kHeadParameters; i < parameters.size(); i += 2) {
    gather.components.push_back({parameters[i], parameters[i + 1]});
  }
  int64_t operand, result;
  if ((gather.index_bytes != 4 && gather.index_bytes != 8) ||
      *std::min_element(parameters.begin(), parameters.begin() + kHeadParameters) <= 0 || !StaysInside(gather) ||
      __builtin_mul_overflow(gather.outer, gather.row_bytes, &operand) ||
      __builtin_mul_overflow(operand, gather.count, &result) ||
      __builtin_mul_overflow(operand, gather.rows, &operand)) {
    return error;
  }
  return std::make_unique<RowGatherKernel>(std::move(gather));
}

const bool registered = RegisterKernel(kName, Make);

}  // namespace

KernelSpec RowGather::Spec() const {
  KernelSpec spec{kName, {index_bytes, outer, rows, row_bytes, count}};
  for (const Component& component : components) {
    spec.parameters.insert(spec.parameters.end(), {component.size, component.stride});
  }
  return spec;
}

}  // namespace hpu::emulator
