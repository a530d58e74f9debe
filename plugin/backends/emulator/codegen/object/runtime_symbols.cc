#include "plugin/backends/emulator/codegen/object/runtime_symbols.h"

#include <dlfcn.h>

#include "plugin/backends/emulator/codegen/object/fork_join.h"
#include "plugin/backends/emulator/codegen/recipe_profile.h"
#include "plugin/backends/emulator/kernels/recipe_kernels.h"
#include "xla/service/cpu/cpu_runtime.h"
#include "xla/service/custom_call_target_registry.h"

namespace hpu::emulator {

void* FindRuntimeSymbol(const std::string& name) {
  if (name == kKernelSymbol) return KernelSymbolAddress();
  if (name == kForkJoinSymbol) return ForkJoinAddress();
  if (name == xla::cpu::runtime::kTracingStartSymbolName) return reinterpret_cast<void*>(&InstructionTimes::Begin);
  if (name == xla::cpu::runtime::kTracingEndSymbolName) return reinterpret_cast<void*>(&InstructionTimes::End);
  // Looks in XLA's registry first: the just-in-time compiler resolves symbols there, so recipes call the same
  // functions. The registry also contains names that no library exports (__truncsfbf2).
  void* address = xla::CustomCallTargetRegistry::Global()->Lookup(name, "Host");
  return address != nullptr ? address : dlsym(RTLD_DEFAULT, name.c_str());
}

}  // namespace hpu::emulator
