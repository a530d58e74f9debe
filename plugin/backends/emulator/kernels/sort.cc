#include "plugin/backends/emulator/kernels/sort.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include "plugin/backends/emulator/kernels/parallel.h"
#include "plugin/backends/emulator/kernels/radix_sort.h"
#include "plugin/backends/emulator/kernels/sort_keys.h"

namespace hpu::emulator {
namespace {

constexpr char kSortName[] = "sort.1";
// Maximum number of adjacent columns that are read together, because they share cache lines, and then sorted one by
// one.
constexpr int64_t kMaxSortedColumns = 16;
// Longer rows are split over the pool, if there are few of them.
constexpr int64_t kLongSort = 64 << 10;
// With fewer elements per selected element, all elements are sorted, because selecting takes as long.
constexpr int64_t kMinPerSelected = 8;

// Number of rows that take about 20 µs.
int64_t RowsPerShard(int64_t size, bool selects) { return std::max<int64_t>(1, (selects ? 16 << 10 : 4 << 10) / size); }

struct Column {
  int64_t first;   // offset of the column's keys in the operand
  int64_t result;  // offset of the column's keys in the result
};

template <typename T>
std::unique_ptr<T[]> Room(int64_t size) {
  return std::unique_ptr<T[]>(new T[size]);
}

// Elements are numbers if only keys are requested, else numbers with positions.
template <typename Element>
class Sorting {
 public:
  Sorting(const Sort& sort, const KernelCall& call)
      : sort_(sort), call_(call), order_(sort.type, sort.key_bytes, sort.descending) {}

  void Run() const {
    const int64_t columns = std::min(kMaxSortedColumns, sort_.inner), pieces = (sort_.inner + columns - 1) / columns;
    if (sort_.size > kLongSort && sort_.outer * sort_.inner < 4 * call_.pool.threads()) {
      for (int64_t i = 0; i < sort_.outer * sort_.inner; ++i) SortLong(ColumnAt(i / sort_.inner, i % sort_.inner));
      return;
    }
    RunShards(call_.pool, sort_.outer * pieces, RowsPerShard(sort_.size * columns, Selects()), [&](Shard shard) {
      const auto numbers = Room<uint32_t>(sort_.size * columns);
      const auto elements = Room<Element>(RoomForElements()), spare = Room<Element>(RoomForElements());
      for (int64_t i = shard.begin; i < shard.end; ++i) {
        const int64_t outer = i / pieces, begin = i % pieces * columns, end = std::min(sort_.inner, begin + columns);
        const Column first = ColumnAt(outer, begin);
        ReadSome(first, end - begin, numbers.get());
        for (int64_t c = 0; c < end - begin; ++c) {
          Write(SortOne(numbers.get() + c * sort_.size, elements.get(), spare.get()), 0, sort_.count,
                {first.first + c, first.result + c});
        }
      }
    });
  }

 private:
  bool Selects() const { return sort_.count * kMinPerSelected <= sort_.size; }
  int64_t RoomForElements() const { return Selects() ? RoomToSelect(sort_.count) : sort_.size; }

  Column ColumnAt(int64_t outer, int64_t inner) const {
    return {outer * sort_.size * sort_.inner + inner, outer * sort_.count * sort_.inner + inner};
  }

  const std::byte* KeysAt(int64_t index) const {
    return static_cast<const std::byte*>(call_.operands[0]) + index * sort_.key_bytes;
  }

  void ReadSome(const Column& first, int64_t columns, uint32_t* numbers) const {
    const void* const keys = KeysAt(first.first);
    if (sort_.inner == 1) return ReadNumbers(keys, sort_.key_bytes, sort_.size, order_, numbers);
    ReadColumns(keys, sort_.key_bytes, sort_.size, sort_.inner, columns, order_, numbers);
  }

  static void MakeElements(const uint32_t* numbers, int64_t size, int64_t first_index, Element* elements) {
    if constexpr (std::is_same_v<Element, uint64_t>) {
      AppendIndices(numbers, size, first_index, elements);
    } else {
      std::copy_n(numbers, size, elements);
    }
  }

  // Sorts numbers and returns the first `sort_.count` elements.
  const Element* SortOne(const uint32_t* numbers, Element* elements, Element* spare) const {
    if (sort_.count == 1) {
      const int64_t index = IndexOfMin(numbers, sort_.size);
      MakeElements(numbers + index, 1, index, elements);
      return elements;
    }
    if (!Selects()) {
      MakeElements(numbers, sort_.size, 0, elements);
      return RadixSort(elements, spare, sort_.size);
    }
    SelectSmallest(numbers, sort_.size, 0, sort_.count, elements, spare);
    return RadixSort(elements, spare, sort_.count);
  }

  void SortLong(const Column& column) const {
    ComputePool& pool = call_.pool;
    const int64_t chunks = (sort_.size + kLongSort - 1) / kLongSort;
    const auto numbers = Room<uint32_t>(sort_.size);
    const auto for_chunks = [&](int64_t size, auto&& body) {
      RunShards(pool, size, kLongSort, [&](Shard shard) { body(shard.begin, shard.end - shard.begin); });
    };
    const int64_t each = RoomToSelect(sort_.count);
    const bool selects = Selects() && chunks * each <= sort_.size;
    const int64_t room = selects ? chunks * each : sort_.size;
    const auto elements = Room<Element>(room), spare = Room<Element>(room);
    for_chunks(sort_.size, [&](int64_t begin, int64_t size) {
      if (sort_.inner == 1) {
        ReadNumbers(KeysAt(column.first + begin), sort_.key_bytes, size, order_, numbers.get() + begin);
      } else {
        ReadColumns(KeysAt(column.first + begin * sort_.inner), sort_.key_bytes, size, sort_.inner, 1, order_,
                    numbers.get() + begin);
      }
      if (!selects) return MakeElements(numbers.get() + begin, size, begin, elements.get() + begin);
      // Selects the smallest elements of each chunk. These include the smallest elements of the row.
      Element* const held = elements.get() + begin / kLongSort * each;
      if (size > sort_.count) {
        SelectSmallest(numbers.get() + begin, size, begin, sort_.count, held, spare.get() + (held - elements.get()));
        return;
      }
      MakeElements(numbers.get() + begin, size, begin, held);
    });
    if (selects) {
      int64_t held = 0;
      for (int64_t i = 0; i < chunks; ++i) {
        const int64_t size = std::min(sort_.count, sort_.size - i * kLongSort);
        std::copy_n(elements.get() + i * each, size, elements.get() + held);
        held += size;
      }
      KeepSmallestOf(elements.get(), spare.get(), held, sort_.count);
    }
    const Element* const sorted = RadixSort(pool, elements.get(), spare.get(), selects ? sort_.count : sort_.size);
    for_chunks(sort_.count, [&](int64_t begin, int64_t size) { Write(sorted + begin, begin, size, column); });
  }

  // Writes `size` sorted elements to the column's results, from position `begin` on.
  void Write(const Element* elements, int64_t begin, int64_t size, const Column& column) const {
    const void* const* payload = call_.operands + 1;
    const int64_t to = column.result + begin * sort_.inner;
    for (size_t i = 0; i < sort_.results.size(); ++i) {
      void* const result = call_.results[i];
      const int64_t content = sort_.results[i];
      if (content == Sort::kKeys) {
        WriteKeys(elements, size, order_, static_cast<std::byte*>(result) + to * sort_.key_bytes, sort_.key_bytes,
                  sort_.inner);
      } else if constexpr (std::is_same_v<Element, uint64_t>) {
        if (content == Sort::kIndices) {
          WriteIndices(elements, size, static_cast<int32_t*>(result) + to);
        } else {
          WritePayload(elements, size, content, *payload++, column.first, result, to);
        }
      }
    }
  }

  void WriteIndices(const uint64_t* elements, int64_t size, int32_t* to) const {
    if (sort_.inner == 1) {
      for (int64_t i = 0; i < size; ++i) to[i] = static_cast<int32_t>(elements[i]);
    } else {
      for (int64_t i = 0; i < size; ++i) to[i * sort_.inner] = static_cast<int32_t>(elements[i]);
    }
  }

  void WritePayload(const uint64_t* elements, int64_t size, int64_t bytes, const void* payload, int64_t first,
                    void* result, int64_t to) const {
    const auto write = [&](auto type) {
      using T = decltype(type);
      for (int64_t i = 0; i < size; ++i) {
        static_cast<T*>(result)[to + i * sort_.inner] =
            static_cast<const T*>(payload)[first + static_cast<uint32_t>(elements[i]) * sort_.inner];
      }
    };
    switch (bytes) {
      case 1:
        return write(uint8_t());
      case 2:
        return write(uint16_t());
      case 4:
        return write(uint32_t());
      default:
        return write(uint64_t());
    }
  }

  const Sort& sort_;
  const KernelCall& call_;
  const KeyOrder order_;
};

class SortKernel final : public Kernel {
 public:
  explicit SortKernel(Sort sort) : sort_(std::move(sort)) {}

  int results() const override { return static_cast<int>(sort_.results.size()); }

  absl::Status Run(const KernelCall& call) const override {
    const bool keys_alone =
        std::all_of(sort_.results.begin(), sort_.results.end(), [](int64_t content) { return content == Sort::kKeys; });
    if (keys_alone) {
      Sorting<uint32_t>(sort_, call).Run();
    } else {
      Sorting<uint64_t>(sort_, call).Run();
    }
    return absl::OkStatus();
  }

 private:
  const Sort sort_;
};

bool IsSize(int64_t bytes, int64_t max) { return bytes > 0 && bytes <= max && (bytes & (bytes - 1)) == 0; }

absl::StatusOr<std::unique_ptr<const Kernel>> MakeSort(absl::Span<const int64_t> parameters) {
  const absl::Status error = absl::InvalidArgumentError(
      "expected type (0: float, 1: signed, 2: unsigned), key_bytes (1, 2 or 4; not 1 for floats), descending, positive "
      "outer, size, inner and count <= size, then the content of each result (0: keys, -1: positions, or the element "
      "size of another operand)");
  if (parameters.size() < 8) return error;
  Sort sort;
  sort.type = static_cast<Sort::Type>(parameters[0]);
  sort.key_bytes = parameters[1];
  sort.descending = parameters[2] != 0;
  sort.outer = parameters[3];
  sort.size = parameters[4];
  sort.inner = parameters[5];
  sort.count = parameters[6];
  sort.results.assign(parameters.begin() + 7, parameters.end());
  if (parameters[0] < Sort::kFloat || parameters[0] > Sort::kUnsigned || !IsSize(sort.key_bytes, 4) ||
      (sort.type == Sort::kFloat && sort.key_bytes == 1) || parameters[2] >> 1 != 0 || sort.outer <= 0 ||
      sort.size <= 0 || sort.size > std::numeric_limits<int32_t>::max() || sort.inner <= 0 || sort.count <= 0 ||
      sort.count > sort.size) {
    return error;
  }
  for (const int64_t content : sort.results) {
    if (content != Sort::kKeys && content != Sort::kIndices && !IsSize(content, 8)) return error;
  }
  return std::make_unique<SortKernel>(std::move(sort));
}

const bool sort_registered = RegisterKernel(kSortName, MakeSort);

}  // namespace

KernelSpec Sort::Spec() const {
  KernelSpec spec{kSortName, {type, key_bytes, descending, outer, size, inner, count}};
  spec.parameters.insert(spec.parameters.end(), results.begin(), results.end());
  return spec;
}

}  // namespace hpu::emulator
