// Entry of the PJRT backend: the plugin that CTS_BACKEND selects, else the installed CPU plugins.
#include <unistd.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "plugin/backends/pjrt/cuda_cards.h"
#include "plugin/backends/pjrt/plugin_file.h"
#include "plugin/hal/backend.h"
#include "plugin/testing/cts/backends.h"

namespace hpu::cts {
namespace {

constexpr absl::string_view kPjrtScheme = "pjrt:";
// Number of modules in tests that need several modules.
constexpr int kModules = 2;
// Number of devices of a client that runs collectives; tests acquire modules 0 to 3.
constexpr int kDevices = 4;

// Sets the properties of an NVIDIA card. The machine determines the number of modules, so tests cannot choose it.
void AddCardProperties(BackendUnderTest* backend) {
  backend->lock_name = "cuda";
  backend->shortage_advice = "use more cards";
  const auto found = hal::GetBackend(backend->spec);
  const absl::StatusOr<int> count = found.ok() ? (*found)->ModuleCount() : found.status();
  if (!count.ok() || *count >= kModules) return;
  const std::string reason = absl::StrCat("the test needs ", kModules, " cards; this machine has ", *count);
  for (const char* test : {"CommunicatorTest.*", "ModuleTest.EachProcessAcquiresTheFirstFreeModule",
                           "ModuleTest.ExhaustedModulesErrorNamesTheHolders", "ModuleTest.RequestedModuleIsAcquired",
                           "ModuleTest.OnlyVisibleModulesAreAcquired"}) {
    backend->unsupported.push_back({test, reason});
  }
}

// The PJRT backend with the plugin of `spec` ("pjrt:…").
BackendUnderTest Pjrt(const std::string& name, absl::string_view spec) {
  BackendUnderTest backend;
  backend.name = name;
  backend.spec = std::string(spec);
  backend.unsupported = UnsupportedHere();
  const auto file = pjrt::PluginFile(absl::StripPrefix(spec, kPjrtScheme));
  if (file.ok() && pjrt::IsForCpu(*file)) {
    backend.unsupported.push_back(
        {"StreamTest.EventsAreReachedAfterPrecedingWork", "CPU plugins run short programs within the call"});
  }
  if (file.ok() && pjrt::IsForCuda(*file)) AddCardProperties(&backend);
  return backend;
}

std::vector<BackendUnderTest> PjrtBackends() {
  if (const char* chosen = std::getenv(kBackendVariable); chosen != nullptr) return {Pjrt("chosen", chosen)};
  std::vector<BackendUnderTest> backends;
  for (const auto& [name, file] : {std::pair("pjrt_0_81", "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"),
                                   std::pair("pjrt_0_115", "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so")}) {
    const std::string path = absl::StrCat(CTS_PACKAGES, "/", file);
    if (access(path.c_str(), R_OK) != 0) continue;
    const std::string spec = absl::StrCat(kPjrtScheme, path);
    backends.push_back(Pjrt(name, spec));
    backends.push_back(Pjrt(absl::StrCat(name, "_device_collectives"), spec));
    backends.back().settings = {{"HPU_PJRT_COLLECTIVES", "device"},
                                {"HPU_PJRT_OPTIONS", absl::StrCat("cpu_device_count=", kDevices)}};
  }
  return backends;
}

Entry PjrtEntry() {
  Entry entry;
  entry.backends = PjrtBackends;
  return entry;
}

const bool registered_pjrt = Register(PjrtEntry());

}  // namespace

std::string PjrtPlugin() {
  const char* chosen = std::getenv(kBackendVariable);
  return chosen == nullptr ? "cpu" : std::string(absl::StripPrefix(chosen, kPjrtScheme));
}

}  // namespace hpu::cts
