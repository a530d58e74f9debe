#include "plugin/backends/emulator/codegen/object/row_function.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "plugin/backends/emulator/codegen/aligned_block.h"
#include "plugin/backends/emulator/codegen/object/aligned_operands.h"
#include "plugin/backends/emulator/codegen/object/fork_join.h"
#include "plugin/backends/emulator/codegen/recipe_code.h"
#include "plugin/backends/emulator/kernels/parallel.h"
#include "plugin/base/status_macros.h"

namespace hpu::emulator {
namespace {

// Rows of repeated operands. The memory is kept between calls, so that not every call allocates. Not thread safe.
class RepeatedOperands {
 public:
  // Replaces each repeated operand of `features` elements by a row of `row` elements that repeats it.
  const void* const* Of(const void* const* operands, const RowLoop& loop, int64_t row,
                        absl::Span<const uint64_t> operand_bytes) {
    operands_.assign(operands, operands + loop.operands.size());
    const uint64_t repeats = row / loop.features;
    uint64_t bytes = 0;
    for (size_t i = 0; i < loop.operands.size(); ++i) {
      if (loop.operands[i] == RowLoop::Operand::kRepeated) bytes += AlignUp(operand_bytes[i] * repeats);
    }
    if (rows_bytes_ < bytes) {
      rows_.emplace(bytes);
      rows_bytes_ = bytes;
    }
    char* next = rows_->data();
    for (size_t i = 0; i < loop.operands.size(); ++i) {
      if (loop.operands[i] != RowLoop::Operand::kRepeated) continue;
      for (uint64_t k = 0; k < repeats; ++k) {
        std::memcpy(next + k * operand_bytes[i], operands_[i], operand_bytes[i]);
      }
      operands_[i] = next;
      next += AlignUp(operand_bytes[i] * repeats);
    }
    return operands_.data();
  }

 private:
  std::vector<const void*> operands_;
  std::optional<AlignedBlock> rows_;
  uint64_t rows_bytes_ = 0;
};

// Runs the units [0, units) in at most `parts` parts.
void RunParts(ComputePool& pool, int64_t units, int64_t parts, absl::FunctionRef<void(Shard)> body) {
  if (parts == 1 || units == 1) return body({0, units});
  RunShards(pool, units, (units + parts - 1) / parts, body);
}

}  // namespace

RowFunction::RowFunction(const FunctionParts& parts, const RowLoop& loop, void* entry)
    : parts_(parts), loop_(loop), entry_(entry) {
  if (loop.features > 0) row_ = RowOf(loop.features);
  for (size_t i = 0; i < loop.operands.size(); ++i) {
    int64_t elements = loop.elements;
    if (loop.operands[i] == RowLoop::Operand::kScalar) elements = 1;
    if (loop.operands[i] == RowLoop::Operand::kRepeated) elements = loop.features;
    operand_bytes_.push_back(elements * WidthOf(i));
  }
  const uint64_t result_width = parts.table.results[0].spec.bytes / kRowLoopElements;
  for (const BufferSlot& slot : parts.slots) {
    uint64_t width = 0;
    if (slot.source == BufferSlot::Source::kResult) width = result_width;
    if (slot.source == BufferSlot::Source::kArgument && loop.operands[slot.value] == RowLoop::Operand::kWhole) {
      width = WidthOf(slot.value);
    }
    strides_.push_back(row_ * width);
  }
}

uint64_t RowFunction::WidthOf(size_t operand) const {
  const uint64_t bytes = parts_.table.arguments[operand].bytes;
  return loop_.operands[operand] == RowLoop::Operand::kScalar ? bytes : bytes / kRowLoopElements;
}

absl::Status RowFunction::Run(const KernelCall& call) const {
  // A function does not call other functions, so one set of tables per thread suffices.
  thread_local CodeTables tables;
  thread_local AlignedOperands aligned;
  thread_local RepeatedOperands repeated;
  const void* const* operands = aligned.Of(call.operands, operand_bytes_);
  if (row_ > 0 && row_ != loop_.features) operands = repeated.Of(operands, loop_, row_, operand_bytes_);
  const auto run_elements = [&](const LoopCode& code) {
    RunParts(call.pool, loop_.elements, loop_.parts, [&](Shard part) { code.Run(code.buffers, part.begin, part.end); });
  };
  const auto run_rows = [&](const LoopCode& code) {
    RunParts(call.pool, (loop_.elements + row_ - 1) / row_, loop_.parts, [&](Shard part) {
      thread_local std::vector<void*> buffers;
      buffers.assign(code.buffers, code.buffers + strides_.size());
      for (size_t i = 0; i < strides_.size(); ++i) {
        if (strides_[i] > 0) buffers[i] = static_cast<char*>(buffers[i]) + part.begin * strides_[i];
      }
      for (int64_t row = part.begin; row < part.end; ++row) {
        code.Run(buffers.data(), 0, std::min(row_, loop_.elements - row * row_));
        for (size_t i = 0; i < strides_.size(); ++i) {
          if (strides_[i] > 0) buffers[i] = static_cast<char*>(buffers[i]) + strides_[i];
        }
      }
    });
  };
  const CodeCall code_call{operands, call.results, call.workspace, call.pool};
  const LoopDriver driver(row_ > 0 ? LoopDriver::Run(run_rows) : LoopDriver::Run(run_elements));
  HPU_RETURN_IF_ERROR(tables.Call(entry_, parts_.slots, 1, code_call));
  if (tables.produced()[0] != call.results[0]) {
    std::memmove(call.results[0], tables.produced()[0],
                 loop_.elements * (parts_.table.results[0].spec.bytes / kRowLoopElements));
  }
  return absl::OkStatus();
}

}  // namespace hpu::emulator
