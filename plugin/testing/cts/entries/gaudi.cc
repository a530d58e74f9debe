// Entry of the Gaudi backend. Tests the library HPU_TEST_SYNAPSE (for example a card's library), else the Synapse
// double of each release.
#include <cstdlib>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "plugin/testing/cts/backends.h"

namespace hpu::cts {
namespace {

BackendUnderTest Gaudi(const char* name, const char* library) {
  BackendUnderTest backend;
  backend.name = name;
  backend.spec = absl::StrCat("gaudi:", library);
  backend.lock_name = "gaudi";
  backend.shortage_advice = "use a machine with more devices";
  backend.unsupported = UnsupportedHere();
  const char* one_device = "SynapseAI allows one device for each process";
  backend.one_device_per_process = true;
  backend.unsupported.push_back({"CommunicatorTest.DifferencesLeaveTheCommunicatorUsable",
                                 "HCCL does not define different requests, so they end the communicator"});
  backend.unsupported.push_back({"ModuleTest.RequestedModuleIsAcquired", one_device});
  return backend;
}

std::vector<BackendUnderTest> GaudiBackends() {
  const char* chosen = getenv("HPU_TEST_SYNAPSE");
  if (chosen != nullptr && *chosen != '\0') return {Gaudi("gaudi", chosen)};
  return {Gaudi("gaudi_1_5", SYNAPSE_DOUBLE_LIBRARY_1_5), Gaudi("gaudi_1_18", SYNAPSE_DOUBLE_LIBRARY_1_18)};
}

// Sets the doubles' switches. Processes share the doubles' modules by lock files, like the cards of a machine.
std::shared_ptr<void> SetSwitches(const std::string& folder) {
  const std::string locks = absl::StrCat(folder, "/devices");
  std::filesystem::create_directory(locks);
  setenv("SYNAPSE_DOUBLE_LOCKS", locks.c_str(), 1);
  setenv("SYNAPSE_DOUBLE_DEVICES", "2", 1);
  setenv("SYNAPSE_DOUBLE_STRICT", "abort", 0);
  return nullptr;
}

Entry GaudiEntry() {
  Entry entry;
  entry.backends = GaudiBackends;
  entry.prepare = SetSwitches;
  return entry;
}

const bool registered_gaudi = Register(GaudiEntry());

}  // namespace
}  // namespace hpu::cts
