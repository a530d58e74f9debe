#include "plugin/backends/emulator/hlo_passes/materialized_values.h"

#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "plugin/backends/common/hlo/instructions.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "plugin/backends/emulator/hlo_passes/memory_values.h"
#include "plugin/base/status_macros.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/layout_util.h"
#include "xla/service/hlo_cse.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;

constexpr char kKeep[] = "hpu_keep";
// Smaller values stay in the cache, where reading them again is cheap.
constexpr int64_t kMinBytes = 64 << 10;

bool IsKept(const HloInstruction* instruction) { return instruction->IsCustomCall(kKeep); }

bool IsElementwiseArray(const HloInstruction* instruction) {
  return instruction->IsElementwise() && instruction->operand_count() > 0 && instruction->shape().IsArray() &&
         instruction->shape().is_static();
}

int64_t BytesOf(const HloInstruction* instruction) { return xla::ShapeUtil::ByteSizeOf(instruction->shape()); }

// Adds the consumers of the instruction and of its reshapes.
void AddConsumers(const HloInstruction* instruction, std::vector<const HloInstruction*>* consumers) {
  for (const HloInstruction* user : instruction->users()) {
    if (user->opcode() == HloOpcode::kReshape) {
      AddConsumers(user, consumers);
    } else {
      consumers->push_back(user);
    }
  }
}

bool NeedsMemory(const HloInstruction* consumer) {
  switch (consumer->opcode()) {
    case HloOpcode::kConvolution:
    case HloOpcode::kCustomCall:
    case HloOpcode::kDot:
      return true;
    default:
      return consumer->IsRoot();
  }
}

// The elementwise instructions that compute a value, and the other values that they read.
struct Cone {
  absl::flat_hash_set<const HloInstruction*> inside;
  absl::flat_hash_set<const HloInstruction*> sources;
};

Cone ConeOf(const HloInstruction* value) {
  Cone cone = {.inside = {value}, .sources = {}};
  std::vector<const HloInstruction*> unvisited = {value};
  while (!unvisited.empty()) {
    const HloInstruction* inside = unvisited.back();
    unvisited.pop_back();
    for (const HloInstruction* operand : inside->operands()) {
      if (operand->opcode() == HloOpcode::kConstant) continue;
      if (operand->opcode() != HloOpcode::kReshape && !IsElementwiseArray(operand)) {
        cone.sources.insert(operand);
      } else if (cone.inside.insert(operand).second) {
        unvisited.push_back(operand);
      }
    }
  }
  return cone;
}

int64_t BytesToRecompute(const Cone& cone) {
  int64_t bytes = 0;
  for (const HloInstruction* source : cone.sources) {
    bytes += BytesOf(source->opcode() == HloOpcode::kBroadcast ? source->operand(0) : source);
  }
  return bytes;
}

// Whether the value can replace a source in memory: the source is at least as large and has no other reader.
bool CanReuseSource(const HloInstruction* value, const Cone& cone) {
  const auto is_read_inside_alone = [&cone](const HloInstruction* read) {
    return absl::c_all_of(read->users(), [&cone](const HloInstruction* user) { return cone.inside.contains(user); });
  };
  return absl::c_all_of(
             cone.inside,
             [&](const HloInstruction* inside) { return inside == value || is_read_inside_alone(inside); }) &&
         absl::c_any_of(cone.sources, [&](const HloInstruction* source) {
           return IsInMemory(source) && source->opcode() != HloOpcode::kParameter && is_read_inside_alone(source) &&
                  BytesOf(source) >= BytesOf(value);
         });
}

// Rounding to bfloat16 takes longer than reading: without AVX512-BF16, several instructions per vector.
bool IsRounded(const HloInstruction* value) { return hlo::IsWidened(value) && IsElementwiseArray(value->operand(0)); }

// Whether XLA would fuse the value into a loop over another last dimension; the loop would divide indices for each
// element.
bool IsReshapedForMemory(const HloInstruction* value) {
  return absl::c_any_of(value->users(), [&](const HloInstruction* user) {
    if (user->opcode() != HloOpcode::kReshape || user->shape().dimensions_size() == 0 ||
        value->shape().dimensions_size() == 0)
      return false;
    std::vector<const HloInstruction*> consumers;
    AddConsumers(user, &consumers);
    return user->shape().dimensions().back() != value->shape().dimensions().back() &&
           absl::c_any_of(consumers, NeedsMemory);
  });
}

// Whether the value is a transposition that keeps the last dimension in place. Its loop copies rows, unless a reshape
// is fused into it.
bool MovesRows(const HloInstruction* value) {
  return value->opcode() == HloOpcode::kTranspose && value->shape().is_static() &&
         value->shape().dimensions_size() > 0 && value->dimensions().back() == value->shape().dimensions_size() - 1 &&
         value->shape().dimensions().back() > 1 && IsInMemory(value->operand(0));
}

bool IsWorthMaterializing(const HloInstruction* value) {
  if (MovesRows(value)) return BytesOf(value) >= kMinBytes && IsReshapedForMemory(value);
  if (!IsElementwiseArray(value) || BytesOf(value) < kMinBytes) return false;
  if (IsReshapedForMemory(value)) return true;
  std::vector<const HloInstruction*> consumers;
  AddConsumers(value, &consumers);
  if (!absl::c_any_of(consumers, NeedsMemory) || !absl::c_any_of(consumers, IsElementwiseArray)) return false;
  const Cone cone = ConeOf(value);
  return IsRounded(value) || 2 * BytesToRecompute(cone) > 3 * BytesOf(value) || CanReuseSource(value, cone);
}

absl::Status Keep(HloInstruction* value) {
  const std::vector<HloInstruction*> users = value->users();
  xla::Shape shape = value->shape();
  xla::LayoutUtil::SetToDefaultLayout(&shape);
  HloInstruction* kept =
      value->parent()->AddInstruction(HloInstruction::CreateCustomCall(shape, {value}, kKeep, {shape}, ""));
  for (HloInstruction* user : users) HPU_RETURN_IF_ERROR(value->ReplaceUseWith(user, kept));
  return absl::OkStatus();
}

// Whether the value can replace the custom call: nothing else reads the value or shares its memory. XLA's passes may
// have replaced the value by another one, for example by an argument, which must not be written.
bool CanReplaceCall(const HloInstruction* value, const HloInstruction* kept) {
  return value->user_count() == 1 && !kept->HasControlDependencies() &&
         xla::ShapeUtil::Equal(value->shape(), kept->shape()) &&
         (value->opcode() == HloOpcode::kFusion || value->opcode() == HloOpcode::kCall || IsElementwiseArray(value));
}

}  // namespace

absl::Status KeepValues(xla::HloModule* module) {
  // Merges identical computations in different consumers.
  HPU_RETURN_IF_ERROR(xla::HloCSE(/*is_layout_sensitive=*/false).Run(module).status());
  for (HloInstruction* value : module->entry_computation()->MakeInstructionPostOrder()) {
    if (IsWorthMaterializing(value)) HPU_RETURN_IF_ERROR(Keep(value));
  }
  return absl::OkStatus();
}

absl::Status ReleaseValues(xla::HloModule* module) {
  HloComputation* entry = module->entry_computation();
  for (HloInstruction* kept : entry->MakeInstructionPostOrder()) {
    if (!IsKept(kept)) continue;
    HloInstruction* value = kept->mutable_operand(0);
    if (!CanReplaceCall(value, kept)) {
      value = entry->AddInstruction(HloInstruction::CreateUnary(kept->shape(), HloOpcode::kCopy, value));
      HPU_RETURN_IF_ERROR(value->CopyAllControlDepsFrom(kept));
      HPU_RETURN_IF_ERROR(kept->DropAllControlDeps());
    }
    HPU_RETURN_IF_ERROR(entry->ReplaceInstruction(kept, value));
  }
  return absl::OkStatus();
}

}  // namespace hpu::emulator
