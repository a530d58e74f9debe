#include "plugin/compiler/compilation_device.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "plugin/compiler/checked_lowering.h"
#include "plugin/compiler/dynamic_shapes/bounded_shapes.h"
#include "plugin/op_facts/op_facts.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"

namespace hpu {
namespace {

// Removes bool from the kernel's types. XLA cannot subtract booleans, so tf2xla's lowerings throw for bool.
void RemoveBooleans(tensorflow::KernelDef* kernel) {
  for (auto& constraint : *kernel->mutable_constraint()) {
    auto* types = constraint.mutable_allowed_values()->mutable_list()->mutable_type();
    types->erase(std::remove(types->begin(), types->end(), tensorflow::DT_BOOL), types->end());
  }
}

// Allows strings for the messages of assertions. tf2xla drops inputs that only assertions use.
void AddStrings(tensorflow::KernelDef* kernel, absl::string_view attribute) {
  for (auto& constraint : *kernel->mutable_constraint()) {
    if (constraint.name() != attribute) continue;
    constraint.mutable_allowed_values()->mutable_list()->add_type(tensorflow::DT_STRING);
  }
}

bool Takes(tensorflow::KernelDef* kernel) {
  const absl::string_view op = kernel->op();
  if (FactsOf(op).compile == CompilePolicy::kNever) return false;
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

bool IsKeptFromCompiler(absl::string_view op) { return FactsOf(op).compile != CompilePolicy::kAlways; }

bool DrawsOnHost(absl::string_view op) { return FactsOf(op).random != RandomNumbers::kNone && IsKeptFromCompiler(op); }

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
