// RecipeKernels: the kernels of one recipe, and the function by which its code calls them.
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

// The symbol that code calls, as an XLA custom call of API_VERSION_STATUS_RETURNING_UNIFIED. The call's opaque string
// begins with the kernel's number in the recipe, in decimal.
inline constexpr char kKernelSymbol[] = "hpu_emulator_call_kernel";
// Its address.
void* KernelSymbolAddress();

// The opaque string of a call to kernel `number`; the name is for those who read dumps.
std::string KernelCallText(int number, const std::string& name);

// Made when a recipe is loaded: names are looked up and parameters parsed once. Thread safe once all are added.
class RecipeKernels {
 public:
  // Errors: see MakeKernel.
  static absl::StatusOr<RecipeKernels> Make(const std::vector<KernelSpec>& specs);
  // Takes the next number.
  void Add(std::unique_ptr<const Kernel> kernel) { kernels_.push_back(std::move(kernel)); }

  // While it lives, kernels that this thread's code calls by number are those of `kernels`, run on `pool` and
  // `workspace`.
  class Scope {
   public:
    Scope(const RecipeKernels& kernels, ComputePool& pool, void* workspace);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

    // That of this thread; null if there is none.
    static const Scope* Current();

    const RecipeKernels& kernels;
    ComputePool& pool;
    void* const workspace;
  };

  // Null where there is no such number.
  const Kernel* at(size_t number) const { return number < kernels_.size() ? kernels_[number].get() : nullptr; }

 private:
  std::vector<std::unique_ptr<const Kernel>> kernels_;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_RECIPE_KERNELS_H_
