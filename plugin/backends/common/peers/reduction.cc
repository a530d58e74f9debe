#include "plugin/backends/common/peers/reduction.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "Eigen/Core"

namespace hpu::peers {
namespace {

using hal::DataType;
using hal::ReduceOp;

// Number of elements that are reduced at a time; their sums stay in the core's cache.
constexpr uint64_t kBlock = 2048;

// Type in which the elements are accumulated.
template <typename T>
using Sum = std::conditional_t<std::is_same_v<T, Eigen::half> || std::is_same_v<T, Eigen::bfloat16>, float, T>;

template <typename T, typename S>
void Merge(ReduceOp op, const T* source, uint64_t count, S* sums) {
  // Integer sums and products wrap around, so they are computed in unsigned types.
  const auto each = [&](const auto& merge) {
    for (uint64_t i = 0; i < count; ++i) sums[i] = merge(sums[i], static_cast<S>(source[i]));
  };
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kAverage:
      if constexpr (std::is_integral_v<S>) {
        using U = std::make_unsigned_t<S>;
        return each([](S a, S b) { return static_cast<S>(static_cast<U>(a) + static_cast<U>(b)); });
      } else {
        return each([](S a, S b) { return a + b; });
      }
    case ReduceOp::kProduct:
      if constexpr (std::is_integral_v<S>) {
        return each([](S a, S b) { return static_cast<S>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); });
      } else {
        return each([](S a, S b) { return a * b; });
      }
    case ReduceOp::kMin:
      return each([](S a, S b) { return b < a ? b : a; });
    case ReduceOp::kMax:
      return each([](S a, S b) { return a < b ? b : a; });
  }
}

// Type of the divisor of an average; wide enough for the number of ranks.
template <typename S>
using Divisor =
    std::conditional_t<std::is_integral_v<S>, std::conditional_t<std::is_signed_v<S>, int64_t, uint64_t>, S>;

template <typename T>
void ReduceAs(ReduceOp op, const std::vector<const char*>& sources, uint64_t count,
              const std::vector<char*>& destinations) {
  using S = Sum<T>;
  S sums[kBlock];
  T rounded[kBlock];
  for (uint64_t begin = 0; begin < count; begin += kBlock) {
    const uint64_t block = std::min(kBlock, count - begin);
    const auto source = [&](size_t rank) { return reinterpret_cast<const T*>(sources[rank]) + begin; };
    for (uint64_t i = 0; i < block; ++i) sums[i] = static_cast<S>(source(0)[i]);
    for (size_t rank = 1; rank < sources.size(); ++rank) Merge(op, source(rank), block, sums);
    if (op == ReduceOp::kAverage) {
      const auto ranks = static_cast<Divisor<S>>(sources.size());
      for (uint64_t i = 0; i < block; ++i) sums[i] = static_cast<S>(sums[i] / ranks);
    }
    for (uint64_t i = 0; i < block; ++i) rounded[i] = static_cast<T>(sums[i]);
    for (char* destination : destinations) {
      std::memcpy(destination + begin * sizeof(T), rounded, block * sizeof(T));
    }
  }
}

}  // namespace

bool IsReducible(DataType dtype) {
  return dtype != DataType::kInvalid && dtype != DataType::kBool && dtype != DataType::kComplex64 &&
         dtype != DataType::kComplex128;
}

void Reduce(DataType dtype, ReduceOp op, const std::vector<const char*>& sources, uint64_t count,
            const std::vector<char*>& destinations) {
  const auto reduce = [&](auto zero) { ReduceAs<decltype(zero)>(op, sources, count, destinations); };
  switch (dtype) {
    case DataType::kFloat32:
      return reduce(float{});
    case DataType::kFloat64:
      return reduce(double{});
    case DataType::kBFloat16:
      return reduce(Eigen::bfloat16{});
    case DataType::kFloat16:
      return reduce(Eigen::half{});
    case DataType::kInt8:
      return reduce(int8_t{});
    case DataType::kInt16:
      return reduce(int16_t{});
    case DataType::kInt32:
      return reduce(int32_t{});
    case DataType::kInt64:
      return reduce(int64_t{});
    case DataType::kUInt8:
      return reduce(uint8_t{});
    case DataType::kUInt16:
      return reduce(uint16_t{});
    case DataType::kUInt32:
      return reduce(uint32_t{});
    case DataType::kUInt64:
      return reduce(uint64_t{});
    default:
      return;  // the communicator rejects other types
  }
}

}  // namespace hpu::peers
