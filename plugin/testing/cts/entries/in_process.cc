// Entry of the emulator and of the null backend.
#include <cstdlib>

#include "plugin/testing/cts/backends.h"

namespace hpu::cts {
namespace {

std::vector<BackendUnderTest> InProcess() {
  if (std::getenv(kBackendVariable) != nullptr) return {};
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
  return {emulator, null};
}

Entry InProcessEntry() {
  Entry entry;
  entry.backends = InProcess;
  return entry;
}

const bool registered_in_process = Register(InProcessEntry());

}  // namespace
}  // namespace hpu::cts
