#include "plugin/backends/emulator/share.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "Eigen/Core"

namespace hpu::emulator {
namespace {

using hal::DataType;
using hal::ReduceOp;

// Elements that are reduced at a time: their sums stay in the cache of the core.
constexpr uint64_t kBlock = 2048;

// What a type is added in.
template <typename T>
using Sum = std::conditional_t<std::is_same_v<T, Eigen::half> || std::is_same_v<T, Eigen::bfloat16>, float, T>;

template <typename T, typename S>
void Merge(ReduceOp op, const T* source, uint64_t count, S* sums) {
  // Whole numbers wrap around: unsigned ones may.
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

// Elements [begin, end) of the reduction of all sources, to each destination of `destinations`, whose first element is
// number `first`.
template <typename T>
void Reduce(const std::vector<Part>& parts, uint64_t begin, uint64_t end, const std::vector<char*>& destinations,
            uint64_t first) {
  using S = Sum<T>;
  S sums[kBlock];
  T rounded[kBlock];
  for (uint64_t at = begin; at < end; at += kBlock) {
    const uint64_t count = std::min(kBlock, end - at);
    const auto source = [&](const Part& part) { return reinterpret_cast<const T*>(part.source) + at; };
    for (uint64_t i = 0; i < count; ++i) sums[i] = static_cast<S>(source(parts[0])[i]);
    for (size_t rank = 1; rank < parts.size(); ++rank) Merge(parts[0].op, source(parts[rank]), count, sums);
    if (parts[0].op == ReduceOp::kAverage) {
      for (uint64_t i = 0; i < count; ++i) sums[i] = static_cast<S>(sums[i] / static_cast<S>(parts.size()));
    }
    for (uint64_t i = 0; i < count; ++i) rounded[i] = static_cast<T>(sums[i]);
    for (char* destination : destinations) {
      std::memcpy(destination + (at - first) * sizeof(T), rounded, count * sizeof(T));
    }
  }
}

void ReduceAny(const std::vector<Part>& parts, uint64_t begin, uint64_t end, const std::vector<char*>& destinations,
               uint64_t first) {
  const auto reduce = [&](auto zero) { Reduce<decltype(zero)>(parts, begin, end, destinations, first); };
  switch (parts[0].dtype) {
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
      return;  // the communicator takes no others
  }
}

}  // namespace

bool IsReducible(DataType dtype) {
  return dtype != DataType::kInvalid && dtype != DataType::kBool && dtype != DataType::kComplex64 &&
         dtype != DataType::kComplex128;
}

void DoShare(int rank, const std::vector<Part>& parts) {
  const Part& own = parts[rank];
  const uint64_t size = parts.size();
  const uint64_t bytes = own.elements.count * hal::SizeOf(own.dtype);
  switch (own.kind) {
    case Part::Kind::kAllReduce: {
      std::vector<char*> destinations;
      for (const Part& part : parts) destinations.push_back(part.destination);
      return ReduceAny(parts, own.elements.count * rank / size, own.elements.count * (rank + 1) / size, destinations,
                       0);
    }
    case Part::Kind::kReduceScatter:
      return ReduceAny(parts, own.elements.count * rank, own.elements.count * (rank + 1), {own.destination},
                       own.elements.count * rank);
    case Part::Kind::kAllGather:
      for (const Part& part : parts) std::memmove(part.destination + rank * bytes, own.source, bytes);
      return;
    case Part::Kind::kBroadcast:
      std::memmove(own.destination, parts[own.root].source, bytes);
      return;
  }
}

}  // namespace hpu::emulator
