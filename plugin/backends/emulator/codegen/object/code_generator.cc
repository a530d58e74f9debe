#include "plugin/backends/emulator/codegen/code_generator.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "plugin/backends/emulator/codegen/launch_buffers.h"
#include "plugin/backends/emulator/codegen/object/outlining.h"
#include "plugin/backends/emulator/kernels/compiler_target.h"
#include "plugin/backends/emulator/threads/compute_pool.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/version/contact.h"
#include "tsl/platform/env.h"
#include "tsl/platform/threadpool.h"
#include "xla/cpu_function_runtime.h"
#include "xla/hlo/ir/hlo_module_group.h"
#include "xla/service/cpu/cpu_compiler.h"
#include "xla/service/hlo_profile_printer_data.pb.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::cpu_function_runtime::BufferInfo;
using Modules = std::vector<std::unique_ptr<xla::HloModule>>;

// XLA aligns the buffers of a program to 16 bytes. After a small buffer, large buffers then straddle cache lines, and
// TensorFlow's kernels copy such operands. With sizes rounded up, each buffer begins at a multiple of 64.
class AligningCompiler final : public xla::cpu::CpuCompiler {
 public:
  xla::HloCostAnalysis::ShapeSizeFunction ShapeSizeBytesFunction() const override {
    const xla::HloCostAnalysis::ShapeSizeFunction size = CpuCompiler::ShapeSizeBytesFunction();
    return [size](const xla::Shape& shape) -> int64_t { return AlignUp(size(shape)); };
  }
};

// Number of functions per compilation. Larger batches would leave threads without work; smaller batches would repeat
// XLA's set-up too often.
constexpr size_t kBatch = 8;

// Whether the caller's memory for the result can serve as the buffer. False if the result aliases an argument and XLA
// did not use the alias. The code may then read the argument after it has written the result.
bool CanUseResultMemory(const BufferInfo& buffer, const ProgramTable& table) {
  if (!buffer.is_temp_buffer() || !buffer.is_result_parameter()) return false;
  const uint32_t index = buffer.result_parameter_number();
  return index < table.results.size() && table.results[index].aliased_argument < 0 &&
         AlignUp(table.results[index].spec.bytes) == buffer.size();
}

absl::StatusOr<BufferSlot> SlotOf(const BufferInfo& buffer, const ProgramTable& table, uint64_t* workspace_bytes) {
  BufferSlot slot;
  slot.bytes = buffer.size();
  if (buffer.is_entry_parameter()) {
    slot.source = BufferSlot::Source::kArgument;
    slot.value = buffer.entry_parameter_number();
    if (slot.value >= table.arguments.size()) {
      return absl::InternalError(absl::StrCat("XLA's code reads argument ", slot.value, ", but the program has only ",
                                              table.arguments.size(), " arguments; " HPU_REPORT_BUG));
    }
    if (const uint64_t expected = AlignUp(table.arguments[slot.value].bytes); expected != buffer.size()) {
      return absl::InternalError(absl::StrCat("XLA's buffer of argument ", slot.value, " has ", buffer.size(),
                                              " bytes, expected ", expected, "; " HPU_REPORT_BUG));
    }
    slot.bytes = table.arguments[slot.value].bytes;
  } else if (CanUseResultMemory(buffer, table)) {
    slot.source = BufferSlot::Source::kResult;
    slot.value = buffer.result_parameter_number();
    slot.bytes = table.results[slot.value].spec.bytes;
  } else if (buffer.is_temp_buffer()) {
    slot.source = BufferSlot::Source::kWorkspace;
    slot.value = AlignUp(*workspace_bytes);
    *workspace_bytes = slot.value + slot.bytes;
  }
  return slot;
}

absl::StatusOr<CodeParts> PartsOf(const xla::cpu::CpuAotCompilationResult& code, const ProgramTable& table) {
  CodeParts parts;
  const std::vector<BufferInfo>& buffers = code.buffer_infos();
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (static_cast<int64_t>(i) == code.result_buffer_index()) {
      const uint64_t bytes = table.results.size() * sizeof(void*);
      if (buffers[i].size() != AlignUp(bytes)) {
        return absl::InternalError(absl::StrCat("XLA's result table has ", buffers[i].size(), " bytes, expected ",
                                                AlignUp(bytes), "; " HPU_REPORT_BUG));
      }
      parts.slots.push_back({BufferSlot::Source::kResultTable, 0, bytes});
      continue;
    }
    HPU_ASSIGN_OR_RETURN(BufferSlot slot, SlotOf(buffers[i], table, &parts.workspace_bytes));
    parts.slots.push_back(slot);
  }
  parts.object.assign(code.object_file_data().begin(), code.object_file_data().end());
  return parts;
}

using Results = std::vector<std::unique_ptr<xla::AotCompilationResult>>;

absl::StatusOr<Results> CompileModules(Modules modules) {
  const common::HostCpu& cpu = GetTargetCpu();
  const xla::cpu::CpuAotCompilationOptions options("x86_64-unknown-linux-gnu", cpu.name, cpu.features, kRecipeEntry,
                                                   xla::cpu::CpuAotCompilationOptions::RelocationModel::BigPic);
  const size_t count = modules.size();
  HPU_ASSIGN_OR_RETURN(Results results,
                       XlaCompiler().CompileAheadOfTime(
                           std::make_unique<xla::HloModuleGroup>("recipe", absl::MakeSpan(modules)), options));
  if (results.size() != count) {
    return absl::InternalError(
        absl::StrCat("XLA compiled ", count, " programs to ", results.size(), " object files; " HPU_REPORT_BUG));
  }
  return results;
}

const xla::cpu::CpuAotCompilationResult& CodeIn(const std::unique_ptr<xla::AotCompilationResult>& result) {
  return static_cast<const xla::cpu::CpuAotCompilationResult&>(*result);
}

bool IsLarge(const xla::Shape& shape) {
  return shape.IsTuple() ? absl::c_any_of(shape.tuple_shapes(), IsLarge)
                         : shape.IsArray() && xla::ShapeUtil::ElementsIn(shape) > 1;
}

// Whether the code computes arrays itself, besides calling functions and kernels.
bool ComputesArrays(const xla::HloModule& module) {
  const auto computes = [](const xla::HloInstruction* instruction) {
    switch (instruction->opcode()) {
      case xla::HloOpcode::kBitcast:
      case xla::HloOpcode::kConditional:
      case xla::HloOpcode::kConstant:
      case xla::HloOpcode::kCustomCall:
      case xla::HloOpcode::kGetTupleElement:
      case xla::HloOpcode::kParameter:
      case xla::HloOpcode::kTuple:
      case xla::HloOpcode::kWhile:
        return false;
      default:
        return IsLarge(instruction->shape()) ||
               absl::c_any_of(instruction->operands(), [](const auto* operand) { return IsLarge(operand->shape()); });
    }
  };
  return absl::c_any_of(module.MakeNonfusionComputations(), [&](const xla::HloComputation* computation) {
    return absl::c_any_of(computation->instructions(), computes);
  });
}

// Disables LLVM's optimisations for a module that only calls functions: for a thousand calls, they take seconds and do
// not make the calls faster.
void CompileCheaply(xla::HloModule* module) {
  xla::HloModuleConfig config = module->config();
  xla::DebugOptions debug_options = config.debug_options();
  debug_options.set_xla_backend_optimization_level(0);
  debug_options.set_xla_llvm_disable_expensive_passes(true);
  config.set_debug_options(debug_options);
  module->set_config(config);
}

absl::StatusOr<std::vector<hal::LaunchBuffer>> BuffersOf(const xla::HloModule& module) {
  // Assigning buffers sets the module's schedule.
  const std::unique_ptr<xla::HloModule> copy = module.Clone("");
  HPU_ASSIGN_OR_RETURN(const std::unique_ptr<xla::BufferAssignment> assignment,
                       XlaCompiler().AssignBuffers(copy.get(), /*stream_exec=*/nullptr));
  return LaunchBuffersOf(*assignment, assignment->hlo_live_range());
}

absl::Status CompileOwnCode(std::unique_ptr<xla::HloModule> module, RecipeParts* parts) {
  HPU_ASSIGN_OR_RETURN(parts->buffers, BuffersOf(*module));
  if (module->config().hlo_profiling_enabled())
    parts->profile.instructions = TimedInstructions(*module, /*inner=*/true);
  if (!ComputesArrays(*module)) CompileCheaply(module.get());
  Modules modules;
  modules.push_back(std::move(module));
  HPU_ASSIGN_OR_RETURN(const Results results, CompileModules(std::move(modules)));
  HPU_ASSIGN_OR_RETURN(static_cast<CodeParts&>(*parts), PartsOf(CodeIn(results[0]), parts->table));
  if (const xla::HloProfilePrinterData* data = CodeIn(results[0]).hlo_profile_printer_data(); data != nullptr) {
    parts->profile.counters = data->profile_counters_size();
  }
  return absl::OkStatus();
}

// Compiles each module into the corresponding element of `functions`.
absl::Status CompileFunctions(Modules modules, FunctionParts* functions) {
  const size_t count = modules.size();
  for (size_t i = 0; i < count; ++i) {
    HPU_ASSIGN_OR_RETURN(functions[i].table, MakeProgramTable(modules[i]->ToProto()));
  }
  HPU_ASSIGN_OR_RETURN(const Results results, CompileModules(std::move(modules)));
  for (size_t i = 0; i < count; ++i) {
    HPU_ASSIGN_OR_RETURN(static_cast<CodeParts&>(functions[i]), PartsOf(CodeIn(results[i]), functions[i].table));
  }
  return absl::OkStatus();
}

}  // namespace

xla::Compiler& XlaCompiler() {
  static auto* compiler = new AligningCompiler;
  return *compiler;
}

absl::StatusOr<RecipeParts> GenerateCode(std::unique_ptr<xla::HloModule> module, ProgramTable table,
                                         int first_function) {
  RecipeParts parts;
  parts.table = std::move(table);
  HPU_ASSIGN_OR_RETURN(Outlined outlined, Outline(module.get(), first_function));
  parts.row_loops = std::move(outlined.row_loops);
  Modules& functions = outlined.programs;
  if (functions.empty()) {
    HPU_RETURN_IF_ERROR(CompileOwnCode(std::move(module), &parts));
    return parts;
  }
  parts.functions.resize(functions.size());
  std::vector<absl::Status> done(1 + (functions.size() + kBatch - 1) / kBatch);
  {
    // Compiles all code on threads of one pool, because XLA folds constants in the thread's floating-point mode.
    const int threads = std::min<int>(ComputePool::DefaultThreads(), done.size());
    tsl::thread::ThreadPool pool(tsl::Env::Default(), "hpu_compile", threads);
    pool.Schedule([&] { done[0] = CompileOwnCode(std::move(module), &parts); });
    for (size_t i = 1; i < done.size(); ++i) {
      pool.Schedule([&, i] {
        const auto begin = functions.begin() + (i - 1) * kBatch;
        const auto end = functions.begin() + std::min(i * kBatch, functions.size());
        done[i] = CompileFunctions(Modules(std::make_move_iterator(begin), std::make_move_iterator(end)),
                                   &parts.functions[(i - 1) * kBatch]);
      });
    }
  }
  for (const absl::Status& status : done) HPU_RETURN_IF_ERROR(status);
  return parts;
}

}  // namespace hpu::emulator
