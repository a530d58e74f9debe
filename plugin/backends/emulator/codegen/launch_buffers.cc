#include "plugin/backends/emulator/codegen/launch_buffers.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/service/hlo_value.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using Kind = hal::LaunchBuffer::Kind;

// A value in an allocation.
struct PlacedValue {
  const xla::HloValue* value;
  xla::BufferAllocation::OffsetSize place;
  xla::HloLiveRange::TimeBound lifetime;
};

// Lifetimes of all values. Abseil's hash differs between libraries, so a lookup in XLA's own map would find nothing.
struct Lifetimes {
  explicit Lifetimes(const xla::HloLiveRange& ranges)
      : of_value(ranges.buffer_live_ranges().begin(), ranges.buffer_live_ranges().end()),
        end(ranges.schedule_end_time()) {}

  const std::map<const xla::HloValue*, xla::HloLiveRange::TimeBound> of_value;
  const int64_t end;  // of the program
};

// The values of an allocation, sorted by address and time.
std::vector<PlacedValue> ValuesIn(const xla::BufferAllocation& allocation, const Lifetimes& lifetimes) {
  std::vector<PlacedValue> values;
  for (const auto& [value, place] : allocation.assigned_buffers()) {
    if (value->shape().IsTuple()) continue;  // a table of addresses
    const auto lifetime = lifetimes.of_value.find(value);
    if (lifetime != lifetimes.of_value.end()) values.push_back({value, place, lifetime->second});
  }
  const auto key = [](const PlacedValue& placed) {
    return std::make_tuple(placed.place.offset, placed.lifetime.start, -placed.place.size, placed.value->id());
  };
  std::sort(values.begin(), values.end(),
            [&key](const PlacedValue& a, const PlacedValue& b) { return key(a) < key(b); });
  return values;
}

hal::LaunchBuffer BufferOf(const PlacedValue& placed) {
  const xla::HloInstruction& instruction = *placed.value->defining_instruction();
  hal::LaunchBuffer buffer;
  buffer.instruction = std::string(instruction.name());
  if (instruction.opcode() != xla::HloOpcode::kParameter) {  // tf2xla sets the same op for all parameters
    buffer.op = instruction.metadata().op_name();
    buffer.op_type = instruction.metadata().op_type();
  }
  buffer.shape = xla::ShapeUtil::HumanString(placed.value->shape());
  buffer.bytes = xla::ShapeUtil::ByteSizeOf(placed.value->shape());
  buffer.begin = placed.lifetime.start;
  buffer.end = placed.lifetime.end;
  return buffer;
}

// Whether `value` is computed in place: it has the offset of `before` and begins no later than `buffer` ends.
bool IsInPlace(const PlacedValue& value, const PlacedValue& before, const hal::LaunchBuffer& buffer) {
  return value.place.offset == before.place.offset && value.lifetime.start <= buffer.end;
}

void AddBuffers(const xla::BufferAllocation& allocation, const Lifetimes& lifetimes,
                std::vector<hal::LaunchBuffer>* buffers) {
  const std::vector<PlacedValue> values = ValuesIn(allocation, lifetimes);
  if (values.empty()) return;
  if (allocation.is_entry_computation_parameter() || allocation.maybe_live_out()) {
    // All values of the allocation share the memory of one argument or result.
    const bool is_argument = allocation.is_entry_computation_parameter();
    hal::LaunchBuffer& buffer = buffers->emplace_back(BufferOf(is_argument ? values.front() : values.back()));
    buffer.kind = is_argument ? Kind::kArgument : Kind::kResult;
    buffer.begin = is_argument ? 0 : values.front().lifetime.start;
    buffer.end = lifetimes.end;
    return;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0 && IsInPlace(values[i], values[i - 1], buffers->back())) {
      buffers->back().end = std::max<int64_t>(buffers->back().end, values[i].lifetime.end);
      buffers->back().bytes = std::max(buffers->back().bytes, BufferOf(values[i]).bytes);
    } else {
      buffers->push_back(BufferOf(values[i]));
    }
  }
}

}  // namespace

std::vector<hal::LaunchBuffer> LaunchBuffersOf(const xla::BufferAssignment& assignment,
                                               const xla::HloLiveRange& ranges) {
  const Lifetimes lifetimes(ranges);
  std::vector<hal::LaunchBuffer> buffers;
  for (const xla::BufferAllocation& allocation : assignment.Allocations()) {
    if (allocation.is_thread_local() || allocation.is_constant()) continue;
    AddBuffers(allocation, lifetimes, &buffers);
  }
  std::stable_sort(buffers.begin(), buffers.end(),
                   [](const hal::LaunchBuffer& a, const hal::LaunchBuffer& b) { return a.bytes > b.bytes; });
  if (buffers.size() > kMaxLaunchBuffers) buffers.resize(kMaxLaunchBuffers);
  return buffers;
}

}  // namespace hpu::emulator
