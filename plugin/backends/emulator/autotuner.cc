#include "plugin/backends/emulator/autotuner.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/backends/emulator/aligned_block.h"
#include "plugin/backends/emulator/compiler.h"
#include "plugin/backends/emulator/compute_pool.h"
#include "plugin/backends/emulator/outlining.h"
#include "plugin/backends/emulator/recipe.h"
#include "plugin/hal/status_macros.h"
#include "tsl/platform/logging.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRounds = 5;
constexpr std::chrono::milliseconds kRound{1};

// About 0.1 in float32 and in bfloat16: neither zero nor denormal, which take other times.
AlignedBlock Numbers(uint64_t bytes) {
  constexpr uint16_t kTenth = 0x3dcd;
  AlignedBlock block(bytes + sizeof(kTenth));
  std::fill_n(reinterpret_cast<uint16_t*>(block.data()), bytes / sizeof(kTenth) + 1, kTenth);
  return block;
}

// Of one call, of as many as fill a round.
template <typename Call>
absl::StatusOr<double> SecondsOf(const Call& call) {
  const auto begin = Clock::now();
  for (int calls = 1;; ++calls) {
    HPU_RETURN_IF_ERROR(call());
    const std::chrono::duration<double> passed = Clock::now() - begin;
    if (passed >= kRound) return passed.count() / calls;
  }
}

absl::StatusOr<std::shared_ptr<const EmulatorRecipe>> CompileAlone(const xla::HloInstruction& instruction) {
  const hal::Program program{"autotuning", ProgramOfInstruction(instruction)->ToProto().SerializeAsString()};
  HPU_ASSIGN_OR_RETURN(RecipeParts parts, CompileWithoutKernels(program));
  return EmulatorRecipe::Create(program.name, std::move(parts));
}

}  // namespace

absl::StatusOr<Autotuner::Times> MeasureTimes(const xla::HloInstruction& instruction, const KernelSpec& spec) {
  HPU_ASSIGN_OR_RETURN(const std::unique_ptr<const Kernel> kernel, MakeKernel(spec));
  HPU_ASSIGN_OR_RETURN(const std::shared_ptr<const EmulatorRecipe> recipe, CompileAlone(instruction));
  std::vector<AlignedBlock> blocks;
  std::vector<void*> operands;
  for (const hal::TensorSpec& argument : recipe->arguments()) {
    blocks.push_back(Numbers(argument.bytes));
    operands.push_back(blocks.back().data());
  }
  const AlignedBlock result = Numbers(recipe->results()[0].spec.bytes), workspace = Numbers(recipe->workspace_bytes());
  void* const results[] = {result.data()};
  ComputePool pool;
  const auto run_xla = [&] { return recipe->Run(operands, results, workspace.data(), pool); };
  const auto run_kernel = [&] { return kernel->Run({operands.data(), results, nullptr, pool}); };
  // What is made at a first call only.
  HPU_RETURN_IF_ERROR(run_xla());
  HPU_RETURN_IF_ERROR(run_kernel());
  constexpr double kEternity = std::numeric_limits<double>::infinity();
  Autotuner::Times least{kEternity, kEternity};
  for (int round = 0; round < kRounds; ++round) {
    HPU_ASSIGN_OR_RETURN(const double xla, SecondsOf(run_xla));
    HPU_ASSIGN_OR_RETURN(const double own, SecondsOf(run_kernel));
    least = {std::min(least.xla, xla), std::min(least.kernel, own)};
  }
  return least;
}

Autotuner& Autotuner::OfProcess() {
  static auto* autotuner = new Autotuner(MeasureTimes);
  return *autotuner;
}

absl::StatusOr<bool> Autotuner::PrefersKernel(const xla::HloInstruction& instruction, const KernelSpec& spec) {
  const std::string name = absl::StrCat(spec.name, " of (", absl::StrJoin(spec.parameters, ", "), ")");
  absl::MutexLock lock(&mutex_);
  if (const auto known = preferred_.find(name); known != preferred_.end()) return known->second;
  HPU_ASSIGN_OR_RETURN(const Times times, stopwatch_(instruction, spec));
  VLOG(1) << name << ": " << 1e6 * times.kernel << " us, XLA " << 1e6 * times.xla << " us";
  return preferred_[name] = times.kernel < times.xla;
}

}  // namespace hpu::emulator
