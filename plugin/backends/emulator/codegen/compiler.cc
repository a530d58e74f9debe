#include "plugin/backends/emulator/codegen/compiler.h"

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "plugin/backends/emulator/codegen/autotuner.h"
#include "plugin/backends/emulator/codegen/code_generator.h"
#include "plugin/backends/emulator/hlo_passes/exact_roundings.h"
#include "plugin/backends/emulator/hlo_passes/flat_loops.h"
#include "plugin/backends/emulator/hlo_passes/in_place_updates.h"
#include "plugin/backends/emulator/hlo_passes/kernel_passes.h"
#include "plugin/backends/emulator/hlo_passes/materialized_values.h"
#include "plugin/backends/emulator/hlo_passes/small_loops.h"
#include "plugin/backends/emulator/hlo_passes/wide_exponentials.h"
#include "plugin/backends/emulator/threads/compute_pool.h"
#include "plugin/base/flags/flags.h"
#include "plugin/base/status_macros.h"
#include "plugin/compat/xla_compat.h"
#include "xla/debug_options_flags.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/service/compiler.h"
#include "xla/service/hlo.pb.h"
#include "xla/service/hlo_verifier.h"

namespace hpu::emulator {
namespace {

// HPU_COMPILE_EFFORT is LLVM's optimisation level; below 2, LLVM's slowest passes are off. Level 3 leaves XLA_FLAGS
// unchanged.
void SetEffort(int64_t effort, xla::DebugOptions* debug_options) {
  if (effort == 3) return;
  debug_options->set_xla_backend_optimization_level(static_cast<int>(effort));
  debug_options->set_xla_llvm_disable_expensive_passes(effort < 2);
}

absl::StatusOr<std::unique_ptr<xla::HloModule>> MakeModule(const xla::HloModuleProto& proto) {
  // Default layouts: arguments and results are dense and row-major.
  HPU_ASSIGN_OR_RETURN(const xla::ProgramShape program_shape,
                       compat::ProgramShapeFromProto(proto.host_program_shape()));
  xla::HloModuleConfig config(program_shape, /*ignore_layouts=*/true);
  xla::DebugOptions debug_options = xla::GetDebugOptionsFromFlags();
  // See RecipeProfile.
  debug_options.set_xla_hlo_profile(flags::EmulatorProfile());
  debug_options.set_xla_cpu_enable_xprof_traceme(flags::EmulatorProfile());
  // XLA's CPU default loses NaN in maxima and minima, which would hide that training has diverged.
  debug_options.set_xla_cpu_enable_fast_min_max(false);
  SetEffort(flags::CompileEffort(), &debug_options);
  config.set_debug_options(debug_options);
  // Without a seed, XLA's evaluator would read /dev/urandom, which a compile worker of the device server cannot open.
  config.set_seed(1);
  config.set_intra_op_parallelism_threads(ComputePool::DefaultThreads());
  HPU_ASSIGN_OR_RETURN(std::unique_ptr<xla::HloModule> module, xla::HloModule::CreateFromProto(proto, config));
  // XLA assumes consistent shapes, but a program from another process may be invalid.
  HPU_RETURN_IF_ERROR(
      xla::HloVerifier(/*layout_sensitive=*/false, /*allow_mixed_precision=*/true).Run(module.get()).status());
  return module;
}

// XLA's ahead-of-time HLO pipeline does not split loops over threads; the just-in-time pipeline does. So the
// just-in-time pipeline runs here, and code is generated from its result with all HLO passes off.
absl::StatusOr<std::unique_ptr<xla::HloModule>> Optimize(std::unique_ptr<xla::HloModule> module) {
  xla::Compiler& compiler = XlaCompiler();
  HPU_ASSIGN_OR_RETURN(module, compiler.RunHloPasses(std::move(module), /*executor=*/nullptr, {}));
  xla::HloModuleConfig config = module->config();
  xla::DebugOptions debug_options = config.debug_options();
  debug_options.set_xla_disable_all_hlo_passes(true);
  config.set_debug_options(debug_options);
  module->set_config(config);
  HPU_RETURN_IF_ERROR(ReleaseValues(module.get()));
  HPU_RETURN_IF_ERROR(JoinSmallLoops(module.get()));
  HPU_RETURN_IF_ERROR(UpdateInPlace(module.get()));
  HPU_RETURN_IF_ERROR(FlattenLoops(module.get()));
  HPU_RETURN_IF_ERROR(OmitExactRoundings(module.get()));
  return module;
}

// A program after all passes, with its table and kernels.
struct OptimizedModule {
  std::unique_ptr<xla::HloModule> module;
  ProgramTable table;
  std::vector<KernelSpec> kernels;
};

absl::StatusOr<OptimizedModule> RunPasses(const hal::Program& program, bool replace, KernelChoice choice) {
  xla::HloModuleProto proto;
  if (program.hlo.size() > static_cast<size_t>(std::numeric_limits<int>::max()) ||
      !proto.ParseFromString(program.hlo)) {
    return absl::InvalidArgumentError(absl::StrCat("program '", program.name, "' is not a serialised HloModuleProto (",
                                                   program.hlo.size(), " bytes)"));
  }
  OptimizedModule optimized;
  HPU_ASSIGN_OR_RETURN(optimized.table, MakeProgramTable(proto));
  HPU_ASSIGN_OR_RETURN(std::unique_ptr<xla::HloModule> module, MakeModule(proto));
  HPU_ASSIGN_OR_RETURN(optimized.kernels, UseKernels(module.get(), replace, std::move(choice)));
  HPU_ASSIGN_OR_RETURN(optimized.module, Optimize(std::move(module)));
  if (replace) HPU_RETURN_IF_ERROR(ExpandWideExponentials(optimized.module.get()));
  return optimized;
}

absl::StatusOr<RecipeParts> CompileProgram(const hal::Program& program, bool replace, KernelChoice choice) {
  HPU_ASSIGN_OR_RETURN(OptimizedModule optimized, RunPasses(program, replace, std::move(choice)));
  HPU_ASSIGN_OR_RETURN(RecipeParts parts, GenerateCode(std::move(optimized.module), std::move(optimized.table),
                                                       static_cast<int>(optimized.kernels.size())));
  parts.kernels = std::move(optimized.kernels);
  HPU_RETURN_IF_ERROR(ValidateRowLoops(parts));
  return parts;
}

KernelChoice ActiveChoice() {
  if (!flags::Autotune()) return nullptr;
  return [](const xla::HloInstruction& instruction, absl::Span<const xla::HloInstruction* const> inner) {
    return Autotuner::OfProcess().PrefersKernel(instruction, inner);
  };
}

}  // namespace

absl::StatusOr<RecipeParts> CompileParts(const hal::Program& program) {
  return CompileProgram(program, flags::EmulatorKernels(), ActiveChoice());
}

absl::StatusOr<std::string> OptimizedProgram(const hal::Program& program) {
  HPU_ASSIGN_OR_RETURN(const OptimizedModule optimized, RunPasses(program, flags::EmulatorKernels(), ActiveChoice()));
  return optimized.module->ToProto().SerializeAsString();
}

absl::StatusOr<RecipeParts> CompileWithKernels(const hal::Program& program) {
  return CompileProgram(program, /*replace=*/true, /*choice=*/nullptr);
}

absl::StatusOr<RecipeParts> CompileWithoutKernels(const hal::Program& program) {
  return CompileProgram(program, /*replace=*/false, /*choice=*/nullptr);
}

}  // namespace hpu::emulator
