#include "plugin/backends/emulator/kernels/recipe_kernels.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/version/contact.h"
#include "xla/service/custom_call_status_internal.h"

namespace hpu::emulator {
namespace {

// Thread-local, because a custom call receives no run options from XLA, but runs on the thread that runs the recipe.
thread_local const RecipeKernels::Scope* current_scope = nullptr;

size_t NumberIn(absl::string_view text) {
  size_t number = 0;
  for (char c : text) {
    if (c < '0' || c > '9') break;
    number = number * 10 + (c - '0');
  }
  return number;
}

void Call(void* result, const void** operands, const char* text, size_t length, XlaCustomCallStatus* status) {
  const RecipeKernels::Scope* scope = current_scope;
  const Kernel* kernel = scope == nullptr ? nullptr : scope->kernels.at(NumberIn({text, length}));
  absl::Status done;
  if (kernel == nullptr) {
    done = absl::InternalError("the recipe has no kernel with this number; " HPU_REPORT_BUG);
  } else {
    // Several results are passed as a tuple: a table of addresses.
    void* const* results = kernel->results() == 1 ? &result : static_cast<void* const*>(result);
    done = kernel->Run({operands, results, scope->workspace, scope->pool});
  }
  if (done.ok()) return;
  // Sets the field directly, because XLA does not export the setter.
  status->message = absl::StrCat("kernel ", absl::string_view(text, length), ": ", done.message());
}

}  // namespace

void* KernelSymbolAddress() { return reinterpret_cast<void*>(&Call); }

std::string KernelCallText(int number, const std::string& name) { return absl::StrCat(number, " ", name); }

absl::StatusOr<RecipeKernels> RecipeKernels::Make(const std::vector<KernelSpec>& specs) {
  RecipeKernels kernels;
  for (const KernelSpec& spec : specs) {
    HPU_ASSIGN_OR_RETURN(auto kernel, MakeKernel(spec));
    kernels.kernels_.push_back(std::move(kernel));
  }
  return kernels;
}

RecipeKernels::Scope::Scope(const RecipeKernels& kernels, ComputePool& pool, void* workspace)
    : kernels(kernels), pool(pool), workspace(workspace) {
  current_scope = this;
}

RecipeKernels::Scope::~Scope() { current_scope = nullptr; }

const RecipeKernels::Scope* RecipeKernels::Scope::Current() { return current_scope; }

}  // namespace hpu::emulator
