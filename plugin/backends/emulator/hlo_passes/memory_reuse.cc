#include "plugin/backends/emulator/hlo_passes/memory_reuse.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "plugin/compat/xla_compat.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Reuse does not speed up smaller arrays. Without reuse, more functions are identical and share a program.
constexpr int64_t kMinReusedBytes = 64 << 10;

// Whether the buffer holds only one value, which the program computes and does not return.
bool IsTemporary(const xla::HloBuffer& buffer) {
  if (buffer.values().size() != 1) return false;
  const xla::HloValue& value = *buffer.values()[0];
  const HloOpcode opcode = value.instruction()->opcode();
  return !value.live_out_of_module() && opcode != HloOpcode::kParameter && opcode != HloOpcode::kConstant;
}

// Whether the loop fusion `user` reads each element of `operand` only to compute its own element at the same position.
// XLA's CanShareOperandBufferWithUser accepts more fusions, but requires equal shapes. Here, equal sizes are enough.
bool IsReadElementwise(const HloInstruction* operand, const HloInstruction* user) {
  if (user->opcode() != HloOpcode::kFusion || !user->IsLoopFusion() || !user->shape().IsArray() ||
      !operand->shape().IsArray() ||
      xla::ShapeUtil::ByteSizeOf(operand->shape()) != xla::ShapeUtil::ByteSizeOf(user->shape())) {
    return false;
  }
  std::vector<const HloInstruction*> unvisited = {user->fused_parameter(user->operand_index(operand))};
  absl::flat_hash_set<const HloInstruction*> visited;
  while (!unvisited.empty()) {
    const HloInstruction* inside = unvisited.back();
    unvisited.pop_back();
    for (const HloInstruction* next : inside->users()) {
      if (next->opcode() != HloOpcode::kBitcast && !next->IsElementwise()) return false;
      if (visited.insert(next).second) unvisited.push_back(next);
    }
  }
  return true;
}

}  // namespace

bool MayOverwrite(const xla::HloDataflowAnalysis& dataflow, HloInstruction* operand, HloInstruction* user) {
  if (user->OperandIndices(operand).size() != 1) return false;
  if (user->opcode() != HloOpcode::kCall) {
    return compat::CanShareOperandBufferWithUser(dataflow, operand, user) || IsReadElementwise(operand, user);
  }
  // A loop that is split over threads is a call.
  HloInstruction* root = user->to_apply()->root_instruction();
  HloInstruction* parameter = user->to_apply()->parameter_instruction(user->operand_index(operand));
  return absl::c_all_of(parameter->users(), [root](const HloInstruction* inner) { return inner == root; }) &&
         MayOverwrite(dataflow, parameter, root);
}

MemoryReuse::MemoryReuse(const xla::HloModule& module, const xla::HloAliasAnalysis& aliases)
    : entry_(module.entry_computation()), aliases_(aliases) {
  for (const HloInstruction* instruction : entry_->MakeInstructionPostOrder()) {
    positions_.emplace(instruction, positions_.size());
  }
}

bool MemoryReuse::RunBefore(const std::vector<const HloInstruction*>& others, const HloInstruction* instruction) const {
  int64_t first = positions_.at(instruction);
  for (const HloInstruction* other : others) first = std::min(first, positions_.at(other));
  absl::flat_hash_set<const HloInstruction*> before = {instruction};
  std::vector<const HloInstruction*> unvisited = {instruction};
  while (!unvisited.empty()) {
    const HloInstruction* visited = unvisited.back();
    unvisited.pop_back();
    const auto visit = [&](const HloInstruction* earlier) {
      if (positions_.at(earlier) >= first && before.insert(earlier).second) unvisited.push_back(earlier);
    };
    absl::c_for_each(visited->operands(), visit);
    absl::c_for_each(visited->control_predecessors(), visit);
  }
  return absl::c_all_of(others, [&before](const HloInstruction* other) { return before.contains(other); });
}

bool MemoryReuse::EndsAt(const HloInstruction* value, const HloInstruction* instruction) const {
  const auto buffers = aliases_.ComputeBuffersAt(value);
  if (buffers.size() != 1 || !IsTemporary(*buffers[0])) return false;
  std::vector<const HloInstruction*> users;
  // The value may be at several positions: bitcasts, elements of tuples.
  for (const xla::HloPosition& position : buffers[0]->values()[0]->positions()) {
    if (position.instruction->parent() != entry_) continue;
    users.insert(users.end(), position.instruction->users().begin(), position.instruction->users().end());
  }
  return RunBefore(users, instruction);
}

std::optional<int64_t> MemoryReuse::OperandToOverwrite(HloInstruction* instruction) const {
  if (instruction->parent() != entry_ || !instruction->shape().IsArray() ||
      xla::ShapeUtil::ByteSizeOf(instruction->shape()) < kMinReusedBytes) {
    return std::nullopt;
  }
  const auto written = aliases_.ComputeBuffersAt(instruction);
  if (written.size() != 1 || written[0]->values().size() != 1) return std::nullopt;
  for (int64_t i = 0; i < instruction->operand_count(); ++i) {
    HloInstruction* operand = instruction->mutable_operand(i);
    if (operand->shape().IsArray() && MayOverwrite(aliases_.dataflow_analysis(), operand, instruction) &&
        EndsAt(operand, instruction)) {
      return i;
    }
  }
  return std::nullopt;
}

}  // namespace hpu::emulator
