// RecipeKernels: the kernels of one recipe, and the entry point through which its code calls them.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_RECIPE_KERNELS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_RECIPE_KERNELS_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/backends/emulator/kernels/kernel.h"
#include "plugin/backends/emulator/threads/compute_pool.h"

namespace hpu::emulator {

// The symbol through which generated code calls kernels: an XLA custom call of API_VERSION_STATUS_RETURNING_UNIFIED.
// The call's opaque string starts with the kernel's number in the recipe, in decimal.
inline constexpr char kKernelSymbol[] = "hpu_emulator_call_kernel";
// Address of the function for kKernelSymbol.
void* KernelSymbolAddress();

// The opaque string of a call to kernel `number`; `name` only makes HLO dumps readable.
std::string KernelCallText(int number, const std::string& name);

// Created when a recipe is loaded, so that kernel names are looked up and parameters are parsed only once. Thread safe
// once all kernels are added.
class RecipeKernels {
 public:
  // Errors: see MakeKernel.
  static absl::StatusOr<RecipeKernels> Make(const std::vector<KernelSpec>& specs);
  // Adds a kernel under the next number.
  void Add(std::unique_ptr<const Kernel> kernel) { kernels_.push_back(std::move(kernel)); }

  // While a Scope exists, generated code on the thread that created it calls the kernels in `kernels` by number, with
  // `pool` and `workspace`.
  class Scope {
   public:
    Scope(const RecipeKernels& kernels, ComputePool& pool, void* workspace);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

    // The calling thread's scope; null if there is none.
    static const Scope* Current();

    const RecipeKernels& kernels;
    ComputePool& pool;
    void* const workspace;
  };

  // Null if no kernel has the number.
  const Kernel* at(size_t number) const { return number < kernels_.size() ? kernels_[number].get() : nullptr; }

 private:
  std::vector<std::unique_ptr<const Kernel>> kernels_;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_RECIPE_KERNELS_H_
