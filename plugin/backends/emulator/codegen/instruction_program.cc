#include "plugin/backends/emulator/codegen/instruction_program.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "xla/hlo/ir/hlo_clone_context.h"
#include "xla/hlo/ir/hlo_computation.h"

namespace hpu::emulator {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloModule;

std::unique_ptr<HloModule> EmptyProgram(const HloInstruction& instruction) {
  xla::HloModuleConfig config = instruction.GetModule()->config();
  config.clear_entry_computation_layout();
  xla::DebugOptions debug_options = config.debug_options();
  debug_options.set_xla_hlo_profile(false);
  debug_options.set_xla_cpu_enable_xprof_traceme(false);
  config.set_debug_options(debug_options);
  return std::make_unique<HloModule>("function", config);
}

std::unique_ptr<HloModule> ProgramOfInstruction(const HloInstruction& instruction,
                                                absl::Span<const HloInstruction* const> inner) {
  std::unique_ptr<HloModule> program = EmptyProgram(instruction);
  xla::HloCloneContext context(program.get());
  HloComputation::Builder builder("function");
  int64_t parameters = 0;
  const std::function<HloInstruction*(const HloInstruction&)> clone = [&](const HloInstruction& original) {
    std::vector<HloInstruction*> operands;
    for (const HloInstruction* operand : original.operands()) {
      const bool computed = std::find(inner.begin(), inner.end(), operand) != inner.end();
      operands.push_back(computed ? clone(*operand)
                                  : builder.AddInstruction(HloInstruction::CreateParameter(
                                        parameters, operand->shape(), absl::StrCat("operand.", parameters))));
      if (!computed) ++parameters;
    }
    return builder.AddInstruction(original.CloneWithNewOperands(original.shape(), operands, &context));
  };
  HloInstruction* root = clone(instruction);
  if (!root->shape().IsTuple()) root = builder.AddInstruction(HloInstruction::CreateTuple({root}));
  program->AddEntryComputationWithLayouts(builder.Build(root));
  return program;
}

}  // namespace hpu::emulator
