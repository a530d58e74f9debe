#include "plugin/backends/emulator/codegen/code_generator.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "plugin/backends/emulator/codegen/launch_buffers.h"
#include "plugin/backends/emulator/codegen/recipe_profile.h"
#include "plugin/backends/emulator/codegen/thunks/stored_code.h"
#include "plugin/backends/emulator/kernels/compiler_target.h"
#include "plugin/backends/emulator/kernels/recipe_kernels.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/version/contact.h"
#include "xla/backends/cpu/buffer_allocation_info.h"
#include "xla/hlo/analysis/alias_info.h"
#include "xla/hlo/utils/hlo_live_range.h"
#include "xla/service/buffer_assignment.h"
#include "xla/service/cpu/cpu_aot_compilation_result.h"
#include "xla/service/cpu/cpu_executable.h"
#include "xla/service/custom_call_target_registry.h"
#include "xla/service/platform_util.h"

namespace hpu::emulator {
namespace {

using xla::cpu::BufferAllocationInfo;

// Whether the caller's memory for the result can serve as the buffer. False if the result aliases an argument and XLA
// did not use the alias. The code may then read the argument after it has written the result.
bool CanUseResultMemory(const BufferAllocationInfo& buffer, const ProgramTable& table) {
  if (buffer.is_entry_parameter() || !buffer.is_result()) return false;
  const size_t index = buffer.result_number();
  return index < table.results.size() && table.results[index].aliased_argument < 0 &&
         table.results[index].spec.bytes == buffer.size();
}

absl::StatusOr<BufferSlot> SlotOf(const BufferAllocationInfo& buffer, const ProgramTable& table,
                                  uint64_t* workspace_bytes) {
  BufferSlot slot;
  slot.bytes = buffer.size();
  if (buffer.is_entry_parameter()) {
    slot.source = BufferSlot::Source::kArgument;
    slot.value = buffer.entry_parameter_number();
    if (slot.value >= table.arguments.size() || table.arguments[slot.value].bytes != buffer.size()) {
      return absl::InternalError(absl::StrCat("XLA's buffer of argument ", slot.value, " has ", buffer.size(),
                                              " bytes, which the program does not expect; " HPU_REPORT_BUG));
    }
  } else if (CanUseResultMemory(buffer, table)) {
    slot.source = BufferSlot::Source::kResult;
    slot.value = buffer.result_number();
  } else if (!buffer.is_constant() && !buffer.is_thread_local()) {
    slot.source = BufferSlot::Source::kWorkspace;
    slot.value = AlignUp(*workspace_bytes);
    *workspace_bytes = slot.value + slot.bytes;
  }
  return slot;
}

absl::StatusOr<std::vector<hal::LaunchBuffer>> BuffersOf(const xla::cpu::CpuAotCompilationResult& code) {
  const xla::HloModule& module = *code.optimized_module();
  const xla::AliasInfo aliases;
  HPU_ASSIGN_OR_RETURN(
      const std::unique_ptr<xla::BufferAssignment> assignment,
      xla::BufferAssignment::FromProto(
          code.proto().buffer_assignment(), &module,
          [](const xla::BufferValue& value) { return xla::cpu::CpuExecutable::ShapeSizeBytes(value.shape()); },
          &aliases));
  HPU_ASSIGN_OR_RETURN(
      const std::unique_ptr<xla::HloLiveRange> ranges,
      xla::HloLiveRange::Run(module.schedule(), assignment->alias_analysis(), module.entry_computation()));
  return LaunchBuffersOf(*assignment, *ranges);
}

absl::Status Generate(std::unique_ptr<xla::HloModule> module, RecipeParts* parts) {
  if (module->config().hlo_profiling_enabled()) {
    parts->profile.instructions = TimedInstructions(*module, /*inner=*/false);
    parts->profile.counters = 1;
  }
  const common::HostCpu& cpu = GetTargetCpu();
  const xla::cpu::CpuAotCompilationOptions options("x86_64-unknown-linux-gnu", cpu.name, cpu.features, kRecipeEntry,
                                                   xla::cpu::CpuAotCompilationOptions::RelocationModel::BigPic);
  HPU_ASSIGN_OR_RETURN(const auto results, XlaCompiler().CompileAheadOfTime(std::move(module), options));
  if (results.size() != 1) {
    return absl::InternalError(absl::StrCat("XLA compiled a program to ", results.size(), " results; " HPU_REPORT_BUG));
  }
  const auto& code = static_cast<const xla::cpu::CpuAotCompilationResult&>(*results[0]);
  for (const BufferAllocationInfo& buffer : code.buffer_allocation_infos()) {
    HPU_ASSIGN_OR_RETURN(parts->slots.emplace_back(), SlotOf(buffer, parts->table, &parts->workspace_bytes));
  }
  parts->slots.push_back({BufferSlot::Source::kResultTable, 0, parts->table.results.size() * sizeof(void*)});
  parts->object = StoredCode(code.proto());
  HPU_ASSIGN_OR_RETURN(parts->buffers, BuffersOf(code));
  return absl::OkStatus();
}

}  // namespace

xla::Compiler& XlaCompiler() {
  static auto* compiler = [] {
    // XLA looks the function up when it generates thunks, and when it loads them.
    xla::CustomCallTargetRegistry::Global()->Register(kKernelSymbol, KernelSymbolAddress(), "Host");
    return xla::Compiler::GetForPlatform(xla::PlatformUtil::GetPlatform("Host").value()->id()).value().release();
  }();
  return *compiler;
}

// Thunks are not outlined: XLA compiles each fusion to a function of its own, and runs their thunks in sequence.
absl::StatusOr<RecipeParts> GenerateCode(std::unique_ptr<xla::HloModule> module, ProgramTable table,
                                         int first_function) {
  RecipeParts parts;
  parts.table = std::move(table);
  HPU_RETURN_IF_ERROR(Generate(std::move(module), &parts));
  return parts;
}

}  // namespace hpu::emulator
