#include "plugin/compiler/compilation_device.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "plugin/compiler/bounded_shapes.h"
#include "plugin/compiler/checked_lowering.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"

namespace hpu {
namespace {

// XLA cannot subtract booleans; lowerings that claim this type throw.
void RemoveBooleans(tensorflow::KernelDef* kernel) {
  for (auto& constraint : *kernel->mutable_constraint()) {
    auto* types = constraint.mutable_allowed_values()->mutable_list()->mutable_type();
    types->erase(std::remove(types->begin(), types->end(), tensorflow::DT_BOOL), types->end());
  }
}

// Allows strings, for the texts of assertions: tf2xla drops inputs that only an assertion uses.
void AddStrings(tensorflow::KernelDef* kernel, absl::string_view attribute) {
  for (auto& constraint : *kernel->mutable_constraint()) {
    if (constraint.name() != attribute) continue;
    constraint.mutable_allowed_values()->mutable_list()->add_type(tensorflow::DT_STRING);
  }
}

// Checks that the compiler drops. Functions with jit_compile=True lose them, as on XLA:CPU; clusters exclude them.
bool IsDroppedCheck(absl::string_view op) { return op == "Assert" || op == "CheckNumerics"; }

// Random ops whose seed or state is an argument. Functions with jit_compile=True draw XLA's numbers, as on XLA:CPU;
// clusters exclude these ops.
bool DrawsFromArguments(absl::string_view op) {
  return absl::StartsWith(op, "Stateless") || absl::StartsWith(op, "Stateful");
}

bool Takes(tensorflow::KernelDef* kernel) {
  const absl::string_view op = kernel->op();
  if (IsKeptFromCompiler(op) && !HasDynamicResult(op) && !IsDroppedCheck(op) && !DrawsFromArguments(op)) return false;
  static const auto* subtractions =
      new absl::flat_hash_set<absl::string_view>{"ResourceScatterSub", "ResourceScatterNdSub", "TensorScatterSub"};
  if (subtractions->contains(op)) RemoveBooleans(kernel);
  if (op == "Const") AddStrings(kernel, "dtype");
  if (op == "Assert") AddStrings(kernel, "T");
  if (IsChecked(op)) kernel->set_device_type(kUncheckedDevice);
  return true;
}

void RegisterChecked() {
  using tensorflow::XlaOpRegistry;
  for (const auto* kernel :
       XlaOpRegistry::DeviceKernels(kCompilationDevice, /*include_compilation_only_kernels=*/true)) {
    if (kernel->device_type() == kUncheckedDevice) RegisterCheckedLowering(*kernel);
  }
}

}  // namespace

bool IsKeptFromCompiler(absl::string_view op) {
  // Random ops without a seed argument draw from a state that is baked into the program. Other random ops draw other
  // numbers than the CPU: only functions with jit_compile=True compile them (plugin/passes rewrites ops that have a V2
  // form). tf2xla drops Assert and CheckNumerics, so their errors would be lost.
  if (HasDynamicResult(op)) return true;
  static const auto* kept = new absl::flat_hash_set<absl::string_view>{"RandomUniform",
                                                                       "RandomUniformInt",
                                                                       "RandomStandardNormal",
                                                                       "TruncatedNormal",
                                                                       "ParameterizedTruncatedNormal",
                                                                       "Multinomial",
                                                                       "RandomShuffle",
                                                                       "RandomPoissonV2",
                                                                       "RandomGammaV2",
                                                                       "StatefulUniform",
                                                                       "StatefulUniformFullInt",
                                                                       "StatefulUniformInt",
                                                                       "StatefulStandardNormalV2",
                                                                       "StatefulTruncatedNormal",
                                                                       "StatelessRandomUniform",
                                                                       "StatelessRandomNormal",
                                                                       "StatelessTruncatedNormal",
                                                                       "StatelessRandomUniformInt",
                                                                       "StatelessRandomUniformFullInt",
                                                                       "StatelessMultinomial",
                                                                       "Assert",
                                                                       "CheckNumerics",
                                                                       "CheckNumericsV2",
                                                                       "XlaLaunch",
                                                                       "XlaHostCompute",
                                                                       "XlaSendToHost",
                                                                       "XlaRecvFromHost",
                                                                       "XlaSend",
                                                                       "XlaRecv",
                                                                       "_XlaHostComputeMlir",
                                                                       "CollectiveReduceV2",
                                                                       "CollectiveGatherV2",
                                                                       "CollectiveAssignGroupV2",
                                                                       "CollectiveReduceScatterV2"};
  return kept->contains(op);
}

bool DrawsOnHost(absl::string_view op) {
  const bool random =
      absl::StrContains(op, "Random") || absl::StrContains(op, "Truncated") || absl::StrContains(op, "Multinomial");
  return random && IsKeptFromCompiler(op);
}

bool DrawsOtherNumbers(absl::string_view op) {
  static const auto* ops = new absl::flat_hash_set<absl::string_view>{
      "StatelessParameterizedTruncatedNormal", "StatelessRandomGammaV3",   "StatelessRandomGetKeyCounter",
      "StatelessRandomGetKeyCounterAlg",       "StatelessRandomNormalV2",  "StatelessRandomUniformFullIntV2",
      "StatelessRandomUniformIntV2",           "StatelessRandomUniformV2", "StatelessTruncatedNormalV2"};
  return ops->contains(op);
}

bool LosesErrors(absl::string_view op) { return op == "SparseToDense"; }

void RegisterLowerings() {
  static const bool registered = [] {
    tensorflow::XlaOpRegistry::RegisterBackend(kCompilationDevice, tensorflow::kCpuAllTypes, Takes);
    tensorflow::XlaOpRegistry::RegisterCompilationKernels();
    RegisterChecked();
    return true;
  }();
  (void)registered;
}

}  // namespace hpu
