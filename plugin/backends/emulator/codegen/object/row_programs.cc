#include "plugin/backends/emulator/codegen/object/row_programs.h"

#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "plugin/backends/emulator/codegen/instruction_program.h"
#include "plugin/backends/emulator/hlo_passes/small_loops.h"
#include "plugin/base/status_macros.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/layout_util.h"
#include "xla/service/cpu/backend_config.pb.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;
using RowClass = RowLoop::Operand;

bool IsDense(const xla::Shape& shape) {
  return shape.IsArray() && shape.is_static() && shape.has_layout() &&
         xla::LayoutUtil::IsMonotonicWithDim0Major(shape.layout());
}

// The loop that the instruction runs: the instruction itself, or the loop that it splits over threads.
const HloInstruction& LoopIn(const HloInstruction& instruction) {
  const HloInstruction* split = SplitLoop(instruction);
  return split != nullptr ? *split : instruction;
}

bool IsLoopFusion(const HloInstruction& loop) {
  return loop.opcode() == HloOpcode::kFusion && loop.fusion_kind() == HloInstruction::FusionKind::kLoop;
}

bool IsElementwiseInRows(const HloInstruction& instruction) {
  return instruction.IsElementwise() && instruction.operand_count() > 0 && instruction.called_computations().empty();
}

// Whether a broadcast repeats its operand along the leading dimensions of its result.
bool RepeatsFeatures(const HloInstruction& broadcast) {
  const int64_t leading = broadcast.shape().dimensions_size() - broadcast.operand(0)->shape().dimensions_size();
  for (int64_t i = 0; i < static_cast<int64_t>(broadcast.dimensions().size()); ++i) {
    if (broadcast.dimensions(i) != leading + i) return false;
  }
  return true;
}

// The classes of the values of one loop.
class Classifier {
 public:
  explicit Classifier(int64_t elements) : elements_(elements) {}

  // Nullopt unless the array is dense and has one element, one for each element of the result, or one for each feature.
  std::optional<RowClass> ClassOf(const xla::Shape& shape) const {
    if (!IsDense(shape)) return std::nullopt;
    const int64_t count = xla::ShapeUtil::ElementsIn(shape);
    if (count == elements_) return RowClass::kWhole;
    if (count == 1) return RowClass::kScalar;
    if (count == features_) return RowClass::kRepeated;
    return std::nullopt;
  }

  // Reads the number of features from the broadcasts. False if they differ.
  bool FindFeatures(const HloComputation& computation) {
    for (const HloInstruction* instruction : computation.instructions()) {
      if (instruction->opcode() != HloOpcode::kBroadcast) continue;
      const int64_t count = xla::ShapeUtil::ElementsIn(instruction->operand(0)->shape());
      if (count == 1 || count == xla::ShapeUtil::ElementsIn(instruction->shape())) continue;
      if (features_ != 0 && features_ != count) return false;
      features_ = count;
    }
    return true;
  }

  bool IsRowwise(const HloInstruction& instruction) const {
    const std::optional<RowClass> of_result = ClassOf(instruction.shape());
    if (!of_result.has_value()) return false;
    switch (instruction.opcode()) {
      case HloOpcode::kParameter:
        return true;
      case HloOpcode::kConstant:
        return *of_result == RowClass::kScalar;
      case HloOpcode::kBroadcast: {
        const std::optional<RowClass> of_operand = ClassOf(instruction.operand(0)->shape());
        return of_operand == RowClass::kScalar || (of_operand.has_value() && RepeatsFeatures(instruction));
      }
      case HloOpcode::kBitcast:
      case HloOpcode::kReshape:
        return ClassOf(instruction.operand(0)->shape()) == of_result &&
               instruction.operand(0)->shape().element_type() == instruction.shape().element_type();
      default:
        return IsElementwiseInRows(instruction) &&
               absl::c_all_of(instruction.operands(), [&](const HloInstruction* operand) {
                 const std::optional<RowClass> of_operand = ClassOf(operand->shape());
                 return of_operand == of_result ||
                        (instruction.opcode() == HloOpcode::kClamp && of_operand == RowClass::kScalar);
               });
    }
  }

  int64_t features() const { return features_; }

 private:
  const int64_t elements_;
  int64_t features_ = 0;
};

int64_t SplitParts(const HloInstruction& loop) {
  if (!loop.has_backend_config()) return 1;
  const auto config = loop.backend_config<xla::cpu::BackendConfig>();
  if (!config.ok()) return 1;
  const auto& parts = config->outer_dimension_partitions();
  return std::accumulate(parts.begin(), parts.end(), int64_t{1}, std::multiplies<>());
}

xla::Shape RowShape(const xla::Shape& shape, bool is_scalar) {
  if (is_scalar) return xla::ShapeUtil::MakeShape(shape.element_type(), {});
  return xla::ShapeUtil::MakeShapeWithDenseLayout(shape.element_type(), {kRowLoopElements}, {0});
}

// Copies the instructions of a loop as instructions on rows.
class RowCopier {
 public:
  // `elements` is the size of the loop's result.
  explicit RowCopier(int64_t elements) : elements_(elements) {}

  xla::Shape ShapeOf(const HloInstruction& instruction) const {
    return RowShape(instruction.shape(), IsScalar(instruction));
  }

  std::unique_ptr<HloInstruction> Copy(const HloInstruction& instruction,
                                       absl::Span<HloInstruction* const> operands) const {
    const xla::Shape shape = ShapeOf(instruction);
    if (instruction.opcode() == HloOpcode::kBroadcast) return HloInstruction::CreateBroadcast(shape, operands[0], {});
    if (instruction.opcode() == HloOpcode::kConstant) {
      auto literal = instruction.literal().Reshape({});
      return HloInstruction::CreateConstant(*std::move(literal));
    }
    return instruction.CloneWithNewOperands(shape, operands);
  }

  // A computation of one instruction, whose parameters are the operands.
  std::unique_ptr<HloComputation> ComputationOf(const HloInstruction& instruction) const {
    HloComputation::Builder builder("loop");
    std::vector<HloInstruction*> operands;
    for (const HloInstruction* operand : instruction.operands()) {
      const int64_t number = operands.size();
      operands.push_back(builder.AddInstruction(
          HloInstruction::CreateParameter(number, ShapeOf(*operand), absl::StrCat("operand.", number))));
    }
    return builder.Build(builder.AddInstruction(Copy(instruction, operands)));
  }

  std::unique_ptr<HloComputation> Copy(const HloComputation& computation) const {
    HloComputation::Builder builder("loop");
    absl::flat_hash_map<const HloInstruction*, HloInstruction*> copies;
    for (const HloInstruction* instruction : computation.MakeInstructionPostOrder()) {
      if (instruction->opcode() == HloOpcode::kParameter) {
        const int64_t number = instruction->parameter_number();
        copies[instruction] = builder.AddInstruction(
            HloInstruction::CreateParameter(number, ShapeOf(*instruction), absl::StrCat("operand.", number)));
        continue;
      }
      std::vector<HloInstruction*> operands;
      for (const HloInstruction* operand : instruction->operands()) operands.push_back(copies.at(operand));
      copies[instruction] =
          KeepsValue(*instruction) ? operands[0] : builder.AddInstruction(Copy(*instruction, operands));
    }
    return builder.Build(copies.at(computation.root_instruction()));
  }

 private:
  bool IsScalar(const HloInstruction& instruction) const {
    return elements_ != 1 && xla::ShapeUtil::ElementsIn(instruction.shape()) == 1;
  }

  // Whether the copy would equal its operand: a reshape, or a broadcast of features, which rows already repeat.
  bool KeepsValue(const HloInstruction& instruction) const {
    switch (instruction.opcode()) {
      case HloOpcode::kBitcast:
      case HloOpcode::kReshape:
        return true;
      case HloOpcode::kBroadcast:
        return IsScalar(instruction) == IsScalar(*instruction.operand(0));
      default:
        return false;
    }
  }

  const int64_t elements_;
};

}  // namespace

std::optional<RowLoop> RowLoopOf(const HloInstruction& instruction) {
  const HloInstruction& loop = LoopIn(instruction);
  if (!IsDense(loop.shape()) || loop.shape().dimensions_size() == 0) return std::nullopt;
  RowLoop row;
  row.elements = xla::ShapeUtil::ElementsIn(loop.shape());
  if (row.elements < 2) return std::nullopt;
  Classifier classifier(row.elements);
  const auto is_rowwise = [&](const HloInstruction* inner) { return classifier.IsRowwise(*inner); };
  if (IsLoopFusion(loop)) {
    const HloComputation& computation = *loop.fused_instructions_computation();
    if (!classifier.FindFeatures(computation)) return std::nullopt;
    if (!absl::c_all_of(computation.instructions(), is_rowwise)) return std::nullopt;
    // A constant or a parameter as the root would leave no loop.
    if (classifier.ClassOf(computation.root_instruction()->shape()) != RowClass::kWhole) return std::nullopt;
  } else if (!IsElementwiseInRows(loop) || !is_rowwise(&loop)) {
    return std::nullopt;
  }
  row.parts = SplitParts(loop);
  for (const HloInstruction* operand : instruction.operands()) {
    const std::optional<RowClass> of_operand = classifier.ClassOf(operand->shape());
    if (!of_operand.has_value()) return std::nullopt;
    row.operands.push_back(*of_operand);
  }
  // If the features are computed from scalars only, no operand is repeated.
  if (absl::c_linear_search(row.operands, RowClass::kRepeated)) row.features = classifier.features();
  return IsValid(row, row.operands.size()) ? std::optional<RowLoop>(std::move(row)) : std::nullopt;
}

absl::StatusOr<std::unique_ptr<xla::HloModule>> ProgramOfRowLoop(const HloInstruction& instruction,
                                                                 const RowLoop& loop) {
  std::unique_ptr<xla::HloModule> program = EmptyProgram(instruction);
  const HloInstruction& source = LoopIn(instruction);
  const RowCopier copier(loop.elements);
  HloComputation::Builder entry("function");
  HloComputation::Builder body("body");
  std::vector<HloInstruction*> arguments;
  std::vector<HloInstruction*> parameters;
  for (size_t i = 0; i < loop.operands.size(); ++i) {
    const xla::Shape shape = RowShape(instruction.operand(i)->shape(), loop.operands[i] == RowLoop::Operand::kScalar);
    const std::string name = absl::StrCat("operand.", i);
    arguments.push_back(entry.AddInstruction(HloInstruction::CreateParameter(i, shape, name)));
    parameters.push_back(body.AddInstruction(HloInstruction::CreateParameter(i, shape, name)));
  }
  std::vector<HloInstruction*> operands;
  for (const HloInstruction* operand : source.operands()) {
    const bool is_split = &source != &instruction;
    const int64_t number = is_split ? operand->parameter_number() : static_cast<int64_t>(operands.size());
    operands.push_back(parameters[number]);
  }
  const xla::Shape shape = RowShape(source.shape(), /*is_scalar=*/false);
  // Wraps the loop in a fusion, because for a copy outside a fusion XLA always copies kRowLoopElements elements.
  HloComputation* fused = program->AddEmbeddedComputation(
      IsLoopFusion(source) ? copier.Copy(*source.fused_instructions_computation()) : copier.ComputationOf(source));
  HloInstruction* root =
      body.AddInstruction(HloInstruction::CreateFusion(shape, HloInstruction::FusionKind::kLoop, operands, fused));
  xla::cpu::BackendConfig config;
  config.add_outer_dimension_partitions(2);  // XLA generates a loop with given bounds only for split loops
  HPU_RETURN_IF_ERROR(root->set_backend_config(config));
  HloComputation* split = program->AddEmbeddedComputation(body.Build(root));
  HloInstruction* call = entry.AddInstruction(HloInstruction::CreateCall(shape, arguments, split));
  program->AddEntryComputationWithLayouts(entry.Build(entry.AddInstruction(HloInstruction::CreateTuple({call}))));
  return program;
}

}  // namespace hpu::emulator
