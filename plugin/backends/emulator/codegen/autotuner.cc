#include "plugin/backends/emulator/codegen/autotuner.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "plugin/backends/emulator/codegen/aligned_block.h"
#include "plugin/backends/emulator/codegen/compiler.h"
#include "plugin/backends/emulator/codegen/instruction_program.h"
#include "plugin/backends/emulator/codegen/recipe.h"
#include "plugin/backends/emulator/threads/compute_pool.h"
#include "plugin/base/status_macros.h"
#include "tsl/platform/logging.h"
#include "xla/hlo/ir/hlo_computation.h"

namespace hpu::emulator {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRounds = 5;
constexpr std::chrono::milliseconds kRound{1};

// Memory filled with numbers of about 0.1, in float32 and in bfloat16. Zeros and denormals would distort the times.
AlignedBlock Numbers(uint64_t bytes) {
  constexpr uint16_t kTenth = 0x3dcd;
  AlignedBlock block(bytes + sizeof(kTenth));
  std::fill_n(reinterpret_cast<uint16_t*>(block.data()), bytes / sizeof(kTenth) + 1, kTenth);
  return block;
}

// Seconds per call, averaged over the calls of one round.
template <typename Call>
absl::StatusOr<double> SecondsOf(const Call& call) {
  const auto begin = Clock::now();
  for (int calls = 1;; ++calls) {
    HPU_RETURN_IF_ERROR(call());
    const std::chrono::duration<double> passed = Clock::now() - begin;
    if (passed >= kRound) return passed.count() / calls;
  }
}

// Seconds per call of XLA's code and of the kernel, from one round each.
template <typename Xla, typename Kernel>
absl::StatusOr<Autotuner::Times> TimesOf(const Xla& xla, const Kernel& kernel) {
  Autotuner::Times times;
  HPU_ASSIGN_OR_RETURN(times.xla, SecondsOf(xla));
  HPU_ASSIGN_OR_RETURN(times.kernel, SecondsOf(kernel));
  return times;
}

using CompileFunction = absl::StatusOr<RecipeParts>(const hal::Program&);

// A recipe with its buffers.
class Run {
 public:
  static absl::StatusOr<Run> Make(const xla::HloModule& module, CompileFunction* compile) {
    const hal::Program program{"autotuning", module.ToProto().SerializeAsString()};
    HPU_ASSIGN_OR_RETURN(RecipeParts parts, compile(program));
    Run run;
    HPU_ASSIGN_OR_RETURN(run.recipe_, EmulatorRecipe::Create(program.name, std::move(parts)));
    for (const hal::TensorSpec& argument : run.recipe_->arguments()) {
      run.blocks_.push_back(Numbers(argument.bytes));
      run.arguments_.push_back(run.blocks_.back().data());
    }
    run.blocks_.push_back(Numbers(run.recipe_->results()[0].spec.bytes));
    run.result_ = run.blocks_.back().data();
    run.blocks_.push_back(Numbers(run.recipe_->workspace_bytes()));
    return run;
  }

  absl::Status operator()(ComputePool& pool) const {
    void* const results[] = {result_};
    return recipe_->Run(arguments_, results, blocks_.back().data(), pool);
  }

 private:
  std::shared_ptr<const EmulatorRecipe> recipe_;
  std::vector<AlignedBlock> blocks_;  // arguments, result, workspace
  std::vector<void*> arguments_;
  void* result_ = nullptr;
};

}  // namespace

absl::StatusOr<Autotuner::Times> MeasureTimes(const xla::HloModule& program) {
  HPU_ASSIGN_OR_RETURN(const Run by_xla, Run::Make(program, CompileWithoutKernels));
  HPU_ASSIGN_OR_RETURN(const Run by_kernels, Run::Make(program, CompileWithKernels));
  ComputePool pool;
  const auto run_xla = [&] { return by_xla(pool); };
  const auto run_kernels = [&] { return by_kernels(pool); };
  // The kernel's first call includes one-time work. If the kernel is much faster nevertheless, XLA's code consists of
  // loops over single elements, and one measurement suffices.
  constexpr double kSingleRunRatio = 10;
  HPU_ASSIGN_OR_RETURN(Autotuner::Times fastest, TimesOf(run_xla, run_kernels));
  if (fastest.xla > kSingleRunRatio * fastest.kernel) return fastest;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  fastest = {kInfinity, kInfinity};
  for (int round = 0; round < kRounds; ++round) {
    HPU_ASSIGN_OR_RETURN(const Autotuner::Times times, TimesOf(run_xla, run_kernels));
    fastest = {std::min(fastest.xla, times.xla), std::min(fastest.kernel, times.kernel)};
  }
  return fastest;
}

Autotuner& Autotuner::OfProcess() {
  static auto* autotuner = new Autotuner(MeasureTimes);
  return *autotuner;
}

absl::StatusOr<bool> Autotuner::PrefersKernel(const xla::HloInstruction& instruction,
                                              absl::Span<const xla::HloInstruction* const> inner) {
  const std::unique_ptr<xla::HloModule> program = ProgramOfInstruction(instruction, inner);
  const std::string text = program->entry_computation()->ToString(xla::HloPrintOptions::Canonical());
  absl::MutexLock lock(&mutex_);
  if (const auto known = preferred_.find(text); known != preferred_.end()) return known->second;
  HPU_ASSIGN_OR_RETURN(const Times times, stopwatch_(*program));
  VLOG(1) << text << ": kernel " << 1e6 * times.kernel << " us, XLA " << 1e6 * times.xla << " us";
  return preferred_[text] = times.kernel < times.xla;
}

}  // namespace hpu::emulator
