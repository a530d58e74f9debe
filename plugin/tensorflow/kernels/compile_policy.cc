#include "plugin/tensorflow/kernels/compile_policy.h"

#include <algorithm>
#include <atomic>

#include "plugin/base/flags/flags.h"
#include "xla/tsl/util/determinism.h"

namespace hpu {
namespace {

using Action = CompileDecision::Action;
using Mode = flags::CompileModeSetting;

constexpr int64_t kManyRecipes = 10;
constexpr int64_t kFewExecutionsEach = 50;
constexpr double kSecondsOfFailure = 0.05;  // a guess for a compilation that fails

// With dynamic shapes, the number of recipes must be bounded even in the mode strict.
CompileDecision DecideStrict(const ClusterCounts& counts) {
  if (counts.has_bucket) return {.for_bucket = true};
  const bool on_host = flags::TfEnableDynamicShapes() && IsMegamorphic(counts) &&
                       flags::TfCpuRuntimeFallback() != flags::TfCpuRuntimeFallbackSetting::kForbid;
  return on_host ? CompileDecision{Action::kRunOnCpu, Rule::kMegamorphic} : CompileDecision();
}

std::atomic<bool> equal_choices{false};

CompileDecision DecideByTime(const ClusterCounts& counts) {
  if (counts.scheduled) return {Action::kRunOnCpu, Rule::kCompiling};
  if (counts.bucket_stored) {
    return {Action::kCompile, Rule::kNewShape, /*only_stored=*/true, /*for_bucket=*/true};
  }
  if ((counts.is_first && !counts.has_parts) || counts.is_known) return {};
  if (counts.has_bucket && flags::TfEnableDynamicShapes()) return {.for_bucket = true};
  if (counts.may_be_stored) return {Action::kCompile, Rule::kNewShape, /*only_stored=*/true};
  const double limit = std::max(counts.longest_compile_seconds, counts.has_parts ? kSecondsOfFailure : 0);
  if (counts.cpu_seconds >= limit) return {Action::kCompileInBackground, Rule::kCompiling};
  if (counts.bucket_scheduled) return {Action::kRunOnCpu, Rule::kCompiling};
  if (counts.bucket_cpu_seconds < limit) return {Action::kRunOnCpu, Rule::kNewShape};
  CompileDecision decision{Action::kCompileInBackground, Rule::kCompiling};
  decision.for_bucket = true;
  return decision;
}

}  // namespace

bool ChoosesByTime() {
  return flags::CompileMode() == Mode::kAuto &&
         flags::TfCpuRuntimeFallback() != flags::TfCpuRuntimeFallbackSetting::kForbid &&
         !equal_choices.load(std::memory_order_relaxed) && !tsl::OpDeterminismRequired();
}

bool UsesBoundedRecipes() { return flags::TfEnableDynamicShapes() || ChoosesByTime(); }

void RequireEqualChoices() { equal_choices.store(true, std::memory_order_relaxed); }

bool IsMegamorphic(const ClusterCounts& counts) {
  return !counts.has_bucket && counts.recipes > kManyRecipes && counts.executions < kFewExecutionsEach * counts.recipes;
}

CompileDecision DecideCompile(const ClusterCounts& counts) {
  if (ChoosesByTime()) return DecideByTime(counts);
  const Mode mode = flags::CompileMode();
  if (mode == Mode::kAuto || mode == Mode::kStrict) return DecideStrict(counts);
  if (mode == Mode::kNever) return {Action::kRunOnCpu, Rule::kNever};
  if (counts.scheduled || counts.bucket_scheduled) return {Action::kRunOnCpu, Rule::kCompiling};
  if (IsMegamorphic(counts)) return {Action::kRunOnCpu, Rule::kMegamorphic};
  if (counts.longest_compile_seconds > static_cast<double>(flags::CompileLimitS())) {
    return {Action::kRunOnCpu, Rule::kCompileLimit};
  }
  if (mode == Mode::kAsync) {
    // Also counts queued and running background compilations. Otherwise every new size that arrives during a slow
    // compilation would be compiled.
    ClusterCounts later = counts;
    later.recipes += counts.in_background;
    return {IsMegamorphic(later) ? Action::kRunOnCpu : Action::kCompileInBackground, Rule::kCompiling,
            /*only_stored=*/false, /*for_bucket=*/counts.has_bucket};
  }
  if (counts.fallbacks < flags::LazyCompileAfter()) return {Action::kRunOnCpu, Rule::kLazy};
  return {.for_bucket = counts.has_bucket};
}

CompileDecision DecideEagerCompile(const EagerCounts& counts) {
  const int64_t after = flags::EagerCompileAfter();
  if (after <= 0 || !ChoosesByTime()) {
    return counts.cpu_runs > after ? CompileDecision() : CompileDecision{Action::kRunOnCpu, Rule::kLazy};
  }
  if (counts.scheduled) return {Action::kRunOnCpu, Rule::kCompiling};
  if (counts.cpu_seconds < counts.compile_seconds) return {Action::kRunOnCpu, Rule::kLazy};
  return {Action::kCompileInBackground, Rule::kCompiling};
}

}  // namespace hpu
