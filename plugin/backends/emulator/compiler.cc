#include "plugin/backends/emulator/compiler.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "plugin/backends/emulator/compiler_target.h"
#include "plugin/backends/emulator/compute_pool.h"
#include "plugin/backends/emulator/hlo_passes/kernel_passes.h"
#include "plugin/flags/flags.h"
#include "plugin/hal/status_macros.h"
#include "xla/cpu_function_runtime.h"
#include "xla/debug_options_flags.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/ir/hlo_module_group.h"
#include "xla/service/compiler.h"
#include "xla/service/cpu/cpu_compiler.h"
#include "xla/service/hlo.pb.h"

namespace hpu::emulator {
namespace {

using xla::cpu_function_runtime::BufferInfo;

// Shared by all threads: it has no state, and making one initialises LLVM.
xla::cpu::CpuCompiler& XlaCompiler() {
  static auto* compiler = new xla::cpu::CpuCompiler;
  return *compiler;
}

// HPU_COMPILE_EFFORT is LLVM's level; below 2 without the passes that take it longest. The highest leaves what
// XLA_FLAGS says.
void SetEffort(int64_t effort, xla::DebugOptions* debug_options) {
  if (effort >= 3) return;
  debug_options->set_xla_backend_optimization_level(static_cast<int>(std::max<int64_t>(effort, 0)));
  debug_options->set_xla_llvm_disable_expensive_passes(effort < 2);
}

absl::StatusOr<std::unique_ptr<xla::HloModule>> MakeModule(const xla::HloModuleProto& proto) {
  // Default layouts: arguments and results are dense and row-major.
  xla::HloModuleConfig config(xla::ProgramShape(proto.host_program_shape()), /*ignore_layouts=*/true);
  xla::DebugOptions debug_options = xla::GetDebugOptionsFromFlags();
  debug_options.set_xla_hlo_profile(flags::EmulatorProfile());
  SetEffort(flags::CompileEffort(), &debug_options);
  config.set_debug_options(debug_options);
  config.set_intra_op_parallelism_threads(ComputePool::DefaultThreads());
  return xla::HloModule::CreateFromProto(proto, config);
}

// XLA's ahead-of-time HLO pipeline does not split loops over threads; the just-in-time one does. So the latter runs
// here, and code is generated from its result with all HLO passes off.
absl::StatusOr<std::unique_ptr<xla::HloModule>> Optimize(std::unique_ptr<xla::HloModule> module) {
  xla::Compiler& compiler = XlaCompiler();
  HPU_ASSIGN_OR_RETURN(module, compiler.RunHloPasses(std::move(module), /*executor=*/nullptr, {}));
  xla::HloModuleConfig config = module->config();
  xla::DebugOptions debug_options = config.debug_options();
  debug_options.set_xla_disable_all_hlo_passes(true);
  config.set_debug_options(debug_options);
  module->set_config(config);
  return module;
}

absl::StatusOr<std::unique_ptr<xla::cpu::CpuAotCompilationResult>> GenerateCode(
    std::unique_ptr<xla::HloModule> module) {
  const HostCpu& cpu = GetTargetCpu();
  const xla::cpu::CpuAotCompilationOptions options("x86_64-unknown-linux-gnu", cpu.name, cpu.features, kRecipeEntry,
                                                   xla::cpu::CpuAotCompilationOptions::RelocationModel::BigPic);
  HPU_ASSIGN_OR_RETURN(auto results, XlaCompiler().CompileAheadOfTime(
                                         std::make_unique<xla::HloModuleGroup>(std::move(module)), options));
  if (results.size() != 1) return absl::InternalError("XLA compiled one program to several objects");
  return std::unique_ptr<xla::cpu::CpuAotCompilationResult>(
      static_cast<xla::cpu::CpuAotCompilationResult*>(results.front().release()));
}

// True if XLA's buffer can be the caller's memory of result `index`. Not so where the result aliases an argument and
// XLA did not take that up: the caller's memory is the argument's then, and the code may still read it after writing
// the result.
bool MayLieInResult(const BufferInfo& buffer, const ProgramTable& table) {
  if (!buffer.is_temp_buffer() || !buffer.is_result_parameter()) return false;
  const uint32_t index = buffer.result_parameter_number();
  return index < table.results.size() && table.results[index].aliased_argument < 0 &&
         table.results[index].spec.bytes == buffer.size();
}

absl::StatusOr<BufferSlot> SlotOf(const BufferInfo& buffer, const ProgramTable& table, uint64_t* workspace_bytes) {
  BufferSlot slot;
  slot.bytes = buffer.size();
  if (buffer.is_entry_parameter()) {
    slot.source = BufferSlot::Source::kArgument;
    slot.value = buffer.entry_parameter_number();
    if (slot.value >= table.arguments.size() || table.arguments[slot.value].bytes != buffer.size()) {
      return absl::InternalError(absl::StrCat("XLA gave argument ", slot.value, " another size than the program"));
    }
  } else if (MayLieInResult(buffer, table)) {
    slot.source = BufferSlot::Source::kResult;
    slot.value = buffer.result_parameter_number();
  } else if (buffer.is_temp_buffer()) {
    slot.source = BufferSlot::Source::kWorkspace;
    slot.value = (*workspace_bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
    *workspace_bytes = slot.value + slot.bytes;
  }
  return slot;
}

absl::Status FillSlots(const xla::cpu::CpuAotCompilationResult& code, RecipeParts* parts) {
  const std::vector<BufferInfo>& buffers = code.buffer_infos();
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (static_cast<int64_t>(i) == code.result_buffer_index()) {
      const uint64_t bytes = parts->table.results.size() * sizeof(void*);
      if (buffers[i].size() != bytes) return absl::InternalError("XLA's result table has an unexpected size");
      parts->slots.push_back({BufferSlot::Source::kResultTable, 0, bytes});
      continue;
    }
    HPU_ASSIGN_OR_RETURN(BufferSlot slot, SlotOf(buffers[i], parts->table, &parts->workspace_bytes));
    parts->slots.push_back(slot);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RecipeParts> CompileParts(const hal::Program& program) {
  xla::HloModuleProto proto;
  if (program.hlo.size() > static_cast<size_t>(std::numeric_limits<int>::max()) ||
      !proto.ParseFromString(program.hlo)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the program is no serialised HloModuleProto (", program.hlo.size(), " bytes)"));
  }
  RecipeParts parts;
  HPU_ASSIGN_OR_RETURN(parts.table, MakeProgramTable(proto));
  HPU_ASSIGN_OR_RETURN(std::unique_ptr<xla::HloModule> module, MakeModule(proto));
  HPU_ASSIGN_OR_RETURN(parts.kernels, UseKernels(module.get(), flags::EmulatorKernels()));
  HPU_ASSIGN_OR_RETURN(module, Optimize(std::move(module)));
  const std::unique_ptr<xla::HloModule> copy = flags::EmulatorProfile() ? module->Clone("") : nullptr;
  HPU_ASSIGN_OR_RETURN(const auto code, GenerateCode(std::move(module)));
  if (copy != nullptr && code->hlo_profile_printer_data() != nullptr) {
    parts.profile = ProfileOf(*copy, *code->hlo_profile_printer_data());
  }
  HPU_RETURN_IF_ERROR(FillSlots(*code, &parts));
  parts.object.assign(code->object_file_data().begin(), code->object_file_data().end());
  return parts;
}

}  // namespace hpu::emulator
