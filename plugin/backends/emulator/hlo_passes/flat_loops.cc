#include "plugin/backends/emulator/hlo_passes/flat_loops.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "plugin/backends/emulator/hlo_passes/small_loops.h"
#include "plugin/base/status_macros.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/layout_util.h"
#include "xla/service/cpu/backend_config.pb.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;

// If the last dimension is at least this long, vectorising along it is as fast.
constexpr int64_t kLongRow = 128;

bool IsScalar(const xla::Shape& shape) { return shape.IsArray() && shape.dimensions_size() == 0; }

// Whether the array has `elements` elements, in row-major order.
bool IsWhole(const xla::Shape& shape, int64_t elements) {
  return shape.IsArray() && shape.is_static() && shape.dimensions_size() > 0 &&
         xla::ShapeUtil::ElementsIn(shape) == elements && shape.has_layout() &&
         xla::LayoutUtil::IsMonotonicWithDim0Major(shape.layout());
}

bool IsElementwise(const HloInstruction& instruction) {
  return instruction.IsElementwise() && instruction.operand_count() > 0 && instruction.called_computations().empty();
}

// Whether the instruction is a scalar, or computes each element from elements at the same position.
bool StaysInPlace(const HloInstruction& instruction, int64_t elements) {
  if (!IsScalar(instruction.shape()) && !IsWhole(instruction.shape(), elements)) return false;
  switch (instruction.opcode()) {
    case HloOpcode::kParameter:
      return true;
    case HloOpcode::kConstant:
      return IsScalar(instruction.shape());
    case HloOpcode::kBroadcast:
      return IsScalar(instruction.operand(0)->shape());
    case HloOpcode::kBitcast:
    case HloOpcode::kReshape:
      return IsScalar(instruction.operand(0)->shape()) == IsScalar(instruction.shape()) &&
             instruction.operand(0)->shape().element_type() == instruction.shape().element_type();
    default:
      return IsElementwise(instruction);
  }
}

bool CanBeFlat(const HloInstruction& loop) {
  const xla::Shape& shape = loop.shape();
  if (!shape.IsArray() || shape.dimensions_size() < 2 || shape.dimensions().back() >= kLongRow) return false;
  const int64_t elements = xla::ShapeUtil::ElementsIn(shape);
  if (elements <= shape.dimensions().back() || !IsWhole(shape, elements)) return false;
  const auto stays = [&](const HloInstruction* instruction) { return StaysInPlace(*instruction, elements); };
  if (!absl::c_all_of(loop.operands(), [&](const HloInstruction* operand) {
        return IsScalar(operand->shape()) || IsWhole(operand->shape(), elements);
      })) {
    return false;
  }
  if (loop.opcode() == HloOpcode::kFusion) {
    return loop.fusion_kind() == HloInstruction::FusionKind::kLoop && absl::c_all_of(loop.fused_instructions(), stays);
  }
  return IsElementwise(loop);
}

xla::Shape FlatShape(const xla::Shape& shape) {
  if (IsScalar(shape)) return shape;
  return xla::ShapeUtil::MakeShapeWithDenseLayout(shape.element_type(), {xla::ShapeUtil::ElementsIn(shape)}, {0});
}

// A flat copy of an instruction that is not a parameter, bitcast or reshape.
std::unique_ptr<HloInstruction> FlatInstruction(const HloInstruction& instruction, const xla::Shape& shape,
                                                absl::Span<HloInstruction* const> operands) {
  if (instruction.opcode() == HloOpcode::kBroadcast) return HloInstruction::CreateBroadcast(shape, operands[0], {});
  return instruction.CloneWithNewOperands(shape, operands);
}

// A flat copy of the computation.
std::unique_ptr<HloComputation> FlatComputation(const HloComputation& computation) {
  HloComputation::Builder builder(computation.name());
  absl::flat_hash_map<const HloInstruction*, HloInstruction*> flat;
  for (const HloInstruction* instruction : computation.MakeInstructionPostOrder()) {
    const xla::Shape shape = FlatShape(instruction->shape());
    if (instruction->opcode() == HloOpcode::kParameter) {
      flat[instruction] = builder.AddInstruction(
          HloInstruction::CreateParameter(instruction->parameter_number(), shape, instruction->name()));
      continue;
    }
    std::vector<HloInstruction*> operands;
    for (const HloInstruction* operand : instruction->operands()) operands.push_back(flat.at(operand));
    const bool renames = instruction->opcode() == HloOpcode::kBitcast || instruction->opcode() == HloOpcode::kReshape;
    flat[instruction] = renames ? operands[0] : builder.AddInstruction(FlatInstruction(*instruction, shape, operands));
  }
  return builder.Build(flat.at(computation.root_instruction()));
}

std::unique_ptr<HloInstruction> FlatLoop(const HloInstruction& loop, absl::Span<HloInstruction* const> operands,
                                         xla::HloModule* module) {
  const xla::Shape shape = FlatShape(loop.shape());
  if (loop.opcode() != HloOpcode::kFusion) return loop.CloneWithNewOperands(shape, operands);
  HloComputation* computation = module->AddEmbeddedComputation(FlatComputation(*loop.fused_instructions_computation()));
  auto flat = HloInstruction::CreateFusion(shape, loop.fusion_kind(), operands, computation);
  flat->set_metadata(loop.metadata());
  return flat;
}

// A flat copy of a call's split loop, with the same number of parts, each of adjacent elements.
absl::StatusOr<std::unique_ptr<HloInstruction>> FlatCall(const HloInstruction& call, const HloInstruction& loop,
                                                         absl::Span<HloInstruction* const> operands,
                                                         xla::HloModule* module) {
  HPU_ASSIGN_OR_RETURN(auto config, loop.backend_config<xla::cpu::BackendConfig>());
  const int64_t parts = std::accumulate(config.outer_dimension_partitions().begin(),
                                        config.outer_dimension_partitions().end(), int64_t{1}, std::multiplies<>());
  config.clear_outer_dimension_partitions();
  config.add_outer_dimension_partitions(parts);
  HloComputation::Builder builder(call.to_apply()->name());
  std::vector<HloInstruction*> parameters;
  for (const HloInstruction* operand : operands) {
    parameters.push_back(
        builder.AddInstruction(HloInstruction::CreateParameter(parameters.size(), operand->shape(), operand->name())));
  }
  std::vector<HloInstruction*> inner;
  for (const HloInstruction* parameter : loop.operands()) inner.push_back(parameters[parameter->parameter_number()]);
  HloInstruction* flat = builder.AddInstruction(FlatLoop(loop, inner, module));
  HPU_RETURN_IF_ERROR(flat->set_backend_config(config));
  HloComputation* computation = module->AddEmbeddedComputation(builder.Build(flat));
  return HloInstruction::CreateCall(flat->shape(), operands, computation);
}

// `loop` is the instruction itself or, if the instruction is a call, the loop that it splits over threads.
absl::Status Flatten(HloInstruction* instruction, const HloInstruction& loop) {
  HloComputation* computation = instruction->parent();
  std::vector<HloInstruction*> operands;
  for (HloInstruction* operand : instruction->operands()) {
    const bool scalar = IsScalar(operand->shape());
    operands.push_back(
        scalar ? operand
               : computation->AddInstruction(HloInstruction::CreateBitcast(FlatShape(operand->shape()), operand)));
  }
  std::unique_ptr<HloInstruction> made;
  if (&loop == instruction) {
    made = FlatLoop(loop, operands, computation->parent());
  } else {
    HPU_ASSIGN_OR_RETURN(made, FlatCall(*instruction, loop, operands, computation->parent()));
  }
  HloInstruction* flat = computation->AddInstruction(std::move(made), instruction->name());
  flat->set_metadata(instruction->metadata());
  HPU_RETURN_IF_ERROR(flat->CopyAllControlDepsFrom(instruction));
  HPU_RETURN_IF_ERROR(instruction->DropAllControlDeps());
  return computation->ReplaceWithNewInstruction(instruction, HloInstruction::CreateBitcast(instruction->shape(), flat));
}

}  // namespace

absl::Status FlattenLoops(xla::HloModule* module) {
  for (HloComputation* computation : module->MakeNonfusionComputations()) {
    // Skips bodies of split loops, which are rebuilt with their calls.
    if (computation->root_instruction()->has_backend_config()) continue;
    for (HloInstruction* instruction : computation->MakeInstructionPostOrder()) {
      const HloInstruction* split = SplitLoop(*instruction);
      const HloInstruction& loop = split != nullptr ? *split : *instruction;
      if (CanBeFlat(loop)) HPU_RETURN_IF_ERROR(Flatten(instruction, loop));
    }
  }
  return module->RemoveUnusedComputations();
}

}  // namespace hpu::emulator
