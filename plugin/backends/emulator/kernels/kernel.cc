#include "plugin/backends/emulator/kernels/kernel.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/base/status_payloads.h"

namespace hpu::emulator {
namespace {

// Ordered, so that KernelNames() does not depend on the order of initialisers. Constant after static initialisation.
std::map<std::string, KernelFactory>& Registry() {
  static auto* registry = new std::map<std::string, KernelFactory>;
  return *registry;
}

}  // namespace

bool RegisterKernel(const char* name, KernelFactory factory) { return Registry().emplace(name, factory).second; }

absl::StatusOr<std::unique_ptr<const Kernel>> MakeKernel(const KernelSpec& spec) {
  const auto found = Registry().find(spec.name);
  if (found == Registry().end()) {
    return absl::NotFoundError(absl::StrCat("unknown kernel '", spec.name, "'; known kernels: ", KernelNames()));
  }
  absl::StatusOr<std::unique_ptr<const Kernel>> kernel = found->second(spec.parameters);
  if (kernel.ok()) return kernel;
  return Reworded(kernel.status(),
                  absl::StrCat("kernel '", spec.name, "' with parameters (", absl::StrJoin(spec.parameters, ", "),
                               "): ", kernel.status().message()));
}

std::string KernelNames() {
  return absl::StrJoin(Registry(), " ", [](std::string* names, const auto& entry) { names->append(entry.first); });
}

}  // namespace hpu::emulator
