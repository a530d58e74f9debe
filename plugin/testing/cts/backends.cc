#include "plugin/testing/cts/backends.h"

#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "plugin/backends/pjrt/plugin_file.h"

namespace hpu::cts {
namespace {

constexpr absl::string_view kPjrtScheme = "pjrt:";

// Matches all of `text` against `pattern`, in which * stands for any text.
bool Matches(absl::string_view pattern, absl::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() == '*') {
    return Matches(pattern.substr(1), text) || (!text.empty() && Matches(pattern, text.substr(1)));
  }
  return !text.empty() && pattern.front() == text.front() && Matches(pattern.substr(1), text.substr(1));
}

// Tests that a ThreadSanitizer build cannot run on any backend.
std::vector<Listed> UnsupportedHere() {
#ifdef __SANITIZE_THREAD__
  return {{"RecipeTest.*", "runs inside TensorFlow, whose locks ThreadSanitizer does not see"},
          {"ForkTest.*", "ThreadSanitizer does not support children of processes with threads"},
          {"ModuleTest.ForkedChildDoesNotHoldTheModule", "ThreadSanitizer does not support forked children"}};
#else
  return {};
#endif
}

// The PJRT backend with the plugin of `spec` ("pjrt:…").
BackendUnderTest Pjrt(const char* name, absl::string_view spec) {
  BackendUnderTest backend;
  backend.name = name;
  backend.spec = std::string(spec);
  backend.unsupported = UnsupportedHere();
  const auto file = pjrt::PluginFile(absl::StripPrefix(spec, kPjrtScheme));
  if (file.ok() && pjrt::IsForCpu(*file)) {
    backend.unsupported.push_back(
        {"StreamTest.EventsAreReachedAfterPrecedingWork", "CPU plugins run short programs within the call"});
  }
  return backend;
}

// The PJRT backend with the CPU plugin in `file` of the Python packages. Null if the plugin is not installed.
std::optional<BackendUnderTest> InstalledPjrt(const char* name, absl::string_view file) {
  const std::string path = absl::StrCat(CTS_PACKAGES, "/", file);
  if (access(path.c_str(), R_OK) != 0) return std::nullopt;
  return Pjrt(name, absl::StrCat(kPjrtScheme, path));
}

}  // namespace

std::string PjrtPlugin() {
  const char* chosen = std::getenv(kBackendVariable);
  return chosen == nullptr ? "cpu" : std::string(absl::StripPrefix(chosen, kPjrtScheme));
}

const std::vector<BackendUnderTest>& Backends() {
  static const auto* backends = [] {
    if (const char* chosen = std::getenv(kBackendVariable); chosen != nullptr) {
      return new std::vector<BackendUnderTest>{Pjrt("chosen", chosen)};
    }
    BackendUnderTest emulator;
    emulator.name = emulator.spec = "emulator";
    emulator.unsupported = UnsupportedHere();

    BackendUnderTest null;
    null.name = null.spec = "null";
    null.holds_data = false;
    null.exclusive = false;
    null.asynchronous = false;
    null.unsupported = UnsupportedHere();
    null.unsupported.push_back({"ModuleTest.*", "modules of the null backend are not exclusive"});
    null.unsupported.push_back({"CommunicatorTest.*", "the null backend does not support collective operations"});

    auto* all = new std::vector<BackendUnderTest>{emulator, null};
    for (const auto& pjrt : {InstalledPjrt("pjrt_0_81", "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"),
                             InstalledPjrt("pjrt_0_115", "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so")}) {
      if (pjrt.has_value()) all->push_back(*pjrt);
    }
    if (const char* server = std::getenv(kServerVariable); server != nullptr) {
      BackendUnderTest remote;
      remote.name = "remote";
      remote.spec = server;
      const char* no_files = "modules of a device server have no lock files";
      remote.unsupported = {{"ModuleTest.UnlockedModuleFilesAreIgnored", no_files},
                            {"ModuleTest.UnsafeDirectoriesAndFilesAreRefused", no_files},
                            {"ModuleTest.FilesArePrivateToTheUser", no_files},
                            {"CommunicatorTest.RendezvousOfSeveralProcesses", "the server joins the ranks"},
                            {"CommunicatorTest.FailedRendezvousOfSeveralProcesses", "the server joins the ranks"},
                            {"CommunicatorTest.OperationsOnSeveralStreamsRunInCallOrder",
                             "commands of several streams reach a device server in any order"}};
      all->push_back(remote);
    }
    return all;
  }();
  return *backends;
}

const Listed* Find(const std::vector<Listed>& list, const std::string& test) {
  for (const Listed& listed : list) {
    if (Matches(listed.pattern, test)) return &listed;
  }
  return nullptr;
}

}  // namespace hpu::cts
