#include "plugin/backends/emulator/codegen/object/outlining.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "plugin/backends/emulator/codegen/instruction_program.h"
#include "plugin/backends/emulator/codegen/object/row_programs.h"
#include "plugin/backends/emulator/hlo_passes/memory_reuse.h"
#include "plugin/backends/emulator/kernels/recipe_kernels.h"
#include "plugin/base/status_macros.h"
#include "plugin/compat/xla_compat.h"
#include "xla/hlo/analysis/hlo_alias_analysis.h"
#include "xla/hlo/analysis/hlo_dataflow_analysis.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/hlo/transforms/simplifiers/hlo_dce.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloModule;
using xla::HloOpcode;

// With fewer instructions, outlining does not save compile time.
constexpr size_t kFewest = 12;

bool IsArrayOf(const xla::Shape& shape, int64_t elements) {
  return shape.IsArray() && shape.is_static() && shape.has_layout() && xla::ShapeUtil::ElementsIn(shape) >= elements &&
         xla::primitive_util::BitWidth(shape.element_type()) >= 8;
}

// Shapes of the instruction's results: its own shape, or the elements of its tuple.
std::vector<xla::Shape> ResultsOf(const HloInstruction* instruction) {
  if (instruction->shape().IsTuple()) return instruction->shape().tuple_shapes();
  return {instruction->shape()};
}

xla::ShapeIndex IndexOf(const HloInstruction* instruction, int64_t result) {
  return instruction->shape().IsTuple() ? xla::ShapeIndex{result} : xla::ShapeIndex{};
}

// Whether the result depends only on the operands, and the code calls no kernel.
bool IsPure(const HloInstruction* instruction) {
  switch (instruction->opcode()) {
    case HloOpcode::kBroadcast:
    case HloOpcode::kConcatenate:
    case HloOpcode::kConvolution:
    case HloOpcode::kCopy:
    case HloOpcode::kDot:
    case HloOpcode::kDynamicSlice:
    case HloOpcode::kGather:
    case HloOpcode::kIota:
    case HloOpcode::kPad:
    case HloOpcode::kReduce:
    case HloOpcode::kReduceWindow:
    case HloOpcode::kReshape:
    case HloOpcode::kReverse:
    case HloOpcode::kSelectAndScatter:
    case HloOpcode::kSlice:
    case HloOpcode::kTranspose:
      return true;
    case HloOpcode::kRng:
      return false;
    default:
      return instruction->IsElementwise();
  }
}

bool IsPureInside(const HloInstruction* instruction) {
  return absl::c_all_of(instruction->called_computations(), [](const HloComputation* called) {
    return absl::c_all_of(called->instructions(), [](const HloInstruction* inner) {
      switch (inner->opcode()) {
        case HloOpcode::kParameter:
        case HloOpcode::kConstant:
        case HloOpcode::kTuple:
        case HloOpcode::kGetTupleElement:
        case HloOpcode::kBitcast:
        case HloOpcode::kDynamicUpdateSlice:
          return true;
        case HloOpcode::kFusion:
          return IsPureInside(inner);
        default:
          return IsPure(inner) && IsPureInside(inner);
      }
    });
  });
}

bool IsWorthAFunction(const HloInstruction* instruction) {
  const bool one_of_many = instruction->opcode() == HloOpcode::kFusion || instruction->opcode() == HloOpcode::kCall;
  if (!one_of_many && !IsPure(instruction)) return false;
  const std::vector<xla::Shape> results = ResultsOf(instruction);
  const auto is_array = [](const xla::Shape& shape) { return IsArrayOf(shape, 1); };
  const auto has_loop = [](const xla::Shape& shape) { return IsArrayOf(shape, 2); };
  const auto operand_has_loop = [](const HloInstruction* operand) { return IsArrayOf(operand->shape(), 2); };
  return absl::c_all_of(results, is_array) &&
         absl::c_all_of(instruction->operands(),
                        [&](const HloInstruction* operand) { return is_array(operand->shape()); }) &&
         (absl::c_any_of(results, has_loop) || absl::c_any_of(instruction->operands(), operand_has_loop)) &&
         IsPureInside(instruction) && xla::HloDataflowAnalysis::GetInPlaceInputOutputPairs(instruction).empty();
}

// Adds the instructions to outline from the computations that run in sequence: the entry, loops and branches.
void AddSequential(const HloComputation* computation, std::vector<HloInstruction*>* found) {
  for (HloInstruction* instruction : computation->MakeInstructionPostOrder()) {
    switch (instruction->opcode()) {
      case HloOpcode::kWhile:
      case HloOpcode::kConditional:
        for (const HloComputation* called : instruction->called_computations()) AddSequential(called, found);
        break;
      default:
        if (IsWorthAFunction(instruction)) found->push_back(instruction);
    }
  }
}

// An operand that shares its memory with a result: an updated variable, a value that a loop carries, an overwritten
// operand.
struct InPlace {
  int64_t result = 0;
  int64_t operand = 0;
};

std::vector<InPlace> SharedMemory(const HloInstruction* instruction, const xla::HloAliasAnalysis& aliases) {
  std::vector<InPlace> pairs;
  for (int64_t result = 0; result < static_cast<int64_t>(ResultsOf(instruction).size()); ++result) {
    const auto written = aliases.ComputeBuffersAt(instruction, IndexOf(instruction, result));
    for (int64_t operand = 0; operand < instruction->operand_count(); ++operand) {
      if (written.size() != 1 || aliases.ComputeBuffersAt(instruction->operand(operand)) != written) continue;
      pairs.push_back({result, operand});
      break;
    }
  }
  return pairs;
}

absl::Status ComputeInPlace(const std::vector<InPlace>& in_place, HloModule* program) {
  for (const InPlace& pair : in_place) {
    HPU_RETURN_IF_ERROR(program->input_output_alias_config().SetUpAlias({pair.result}, pair.operand, {},
                                                                        xla::HloInputOutputAliasConfig::kMustAlias));
  }
  return absl::OkStatus();
}

// Text that identifies a program's computation, without names and graph metadata.
std::string TextOf(const HloModule& program) {
  xla::HloPrintOptions options = xla::HloPrintOptions::Canonical();
  options.set_print_large_constants(true).set_print_backend_config(true).set_print_ids(false);
  return absl::StrCat(program.ToString(options), program.input_output_alias_config().ToString());
}

// The call that replaces an instruction.
struct Function {
  bool is_row_loop = false;
  size_t index = 0;                            // in Outlined::row_loops or Outlined::programs
  std::optional<int64_t> overwritten_operand;  // operand that the only result overwrites
};

// Whether all results share memory only with whole operands of the row loop.
bool SharesWholeRows(const RowLoop& loop, const std::vector<InPlace>& in_place) {
  return absl::c_all_of(in_place,
                        [&](const InPlace& pair) { return loop.operands[pair.operand] == RowLoop::Operand::kWhole; });
}

// The programs so far, by text.
class Programs {
 public:
  explicit Programs(Outlined* outlined) : outlined_(*outlined) {}

  // Adds the program of an instruction unless a program with the same computation exists.
  absl::StatusOr<Function> Add(const HloInstruction& instruction, const std::vector<InPlace>& in_place) {
    std::optional<RowLoop> loop = RowLoopOf(instruction);
    if (!loop.has_value() || !SharesWholeRows(*loop, in_place)) {
      HPU_ASSIGN_OR_RETURN(const size_t index, Find(ProgramOfInstruction(instruction), in_place));
      return Function{false, index, std::nullopt};
    }
    HPU_ASSIGN_OR_RETURN(std::unique_ptr<HloModule> program, ProgramOfRowLoop(instruction, *loop));
    HPU_ASSIGN_OR_RETURN(loop->function, Find(std::move(program), in_place));
    const auto found = absl::c_find(outlined_.row_loops, *loop);
    const size_t index = found - outlined_.row_loops.begin();
    if (found == outlined_.row_loops.end()) outlined_.row_loops.push_back(*std::move(loop));
    return Function{true, index, std::nullopt};
  }

 private:
  absl::StatusOr<size_t> Find(std::unique_ptr<HloModule> program, const std::vector<InPlace>& in_place) {
    HPU_RETURN_IF_ERROR(ComputeInPlace(in_place, program.get()));
    const auto [found, is_new] = known_.try_emplace(TextOf(*program), outlined_.programs.size());
    if (is_new) outlined_.programs.push_back(std::move(program));
    return found->second;
  }

  Outlined& outlined_;
  absl::flat_hash_map<std::string, size_t> known_;
};

absl::Status ReplaceByCall(HloInstruction* instruction, int number, const Function& function) {
  HloComputation* computation = instruction->parent();
  HloInstruction::InstructionVector operands = instruction->operands();
  if (function.overwritten_operand.has_value()) {
    // XLA requires an aliased operand and result to have equal shapes.
    HloInstruction*& overwritten = operands[*function.overwritten_operand];
    if (!xla::ShapeUtil::Equal(overwritten->shape(), instruction->shape())) {
      overwritten = computation->AddInstruction(HloInstruction::CreateBitcast(instruction->shape(), overwritten));
    }
  }
  std::vector<xla::Shape> shapes;
  for (const HloInstruction* operand : operands) shapes.push_back(operand->shape());
  HloInstruction* call = computation->AddInstruction(
      HloInstruction::CreateCustomCall(instruction->shape(), operands, kKernelSymbol, shapes,
                                       KernelCallText(number, instruction->ToCategory()),
                                       xla::CustomCallApiVersion::API_VERSION_STATUS_RETURNING_UNIFIED),
      instruction->name());
  if (function.overwritten_operand.has_value()) {
    xla::Cast<xla::HloCustomCallInstruction>(call)->set_output_to_operand_aliasing(
        {{{}, {*function.overwritten_operand, {}}}});
  }
  call->set_metadata(instruction->metadata());
  HPU_RETURN_IF_ERROR(call->CopyAllControlDepsFrom(instruction));
  HPU_RETURN_IF_ERROR(instruction->DropAllControlDeps());
  return computation->ReplaceInstruction(instruction, call);
}

}  // namespace

absl::StatusOr<Outlined> Outline(HloModule* module, int first_number) {
  Outlined outlined;
  std::vector<HloInstruction*> instructions;
  AddSequential(module->entry_computation(), &instructions);
  if (instructions.size() < kFewest) return outlined;
  HPU_ASSIGN_OR_RETURN(const std::unique_ptr<xla::HloAliasAnalysis> aliases, compat::RunAliasAnalysis(module));
  // Analyses the module before any replacement, because the analysis refers to the unchanged module.
  const MemoryReuse reuse(*module, *aliases);
  std::vector<Function> functions;
  Programs programs(&outlined);
  for (HloInstruction* instruction : instructions) {
    std::vector<InPlace> in_place = SharedMemory(instruction, *aliases);
    const std::optional<int64_t> overwritten = reuse.OperandToOverwrite(instruction);
    if (overwritten.has_value()) in_place.push_back({0, *overwritten});
    HPU_ASSIGN_OR_RETURN(functions.emplace_back(), programs.Add(*instruction, in_place));
    functions.back().overwritten_operand = overwritten;
  }
  for (size_t i = 0; i < instructions.size(); ++i) {
    const size_t before = functions[i].is_row_loop ? outlined.programs.size() : 0;
    const int number = static_cast<int>(first_number + before + functions[i].index);
    HPU_RETURN_IF_ERROR(ReplaceByCall(instructions[i], number, functions[i]));
  }
  // Removes the computations that only replaced instructions called. Otherwise the module would seem to compute arrays.
  HPU_RETURN_IF_ERROR(xla::HloDCE().Run(module).status());
  return outlined;
}

}  // namespace hpu::emulator
