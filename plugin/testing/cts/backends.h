// Backends that a program of the conformance suite tests, with their properties.
#ifndef HPU_PLUGIN_TESTING_CTS_BACKENDS_H_
#define HPU_PLUGIN_TESTING_CTS_BACKENDS_H_

#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace hpu::cts {

// A test ("Suite.Test", with * for any text) and the reason why it is listed.
struct Listed {
  std::string pattern;
  std::string reason;
};

struct BackendUnderTest {
  std::string name;                                           // suffix of the tests' names
  std::string spec;                                           // value of HPU_BACKEND
  std::vector<std::pair<const char*, std::string>> settings;  // environment variables of the backend's tests
  bool holds_data = true;                       // false: copies and launches have no effect, CopyToHost returns zeros
  bool exclusive = true;                        // only one process at a time can acquire a module
  bool asynchronous = true;                     // work may still run when the call that queued it returns
  bool one_device_per_process = false;          // a second Acquire of a process fails while a device is held
  std::string lock_name = "module";             // files that lock modules are named <lock_name>-<id>
  std::string shortage_advice = "HPU_MODULES";  // part of the error if all modules are held
  std::vector<Listed> unsupported;              // always skipped; the reason is printed
  std::vector<Listed> expected_failures;        // run, and must fail: remove a test when it is fixed
};

// The contribution of one file in cts/entries/ to a test program. To add a backend, add a file that registers an entry,
// and link it into a program (cmake/CppTests.cmake, cmake/GaudiTests.cmake). Every suite then tests the backend.
struct Entry {
  // The backends; called once.
  std::vector<BackendUnderTest> (*backends)() = nullptr;
  // Runs first in main(), while the process has one thread. May be null.
  void (*start)() = nullptr;
  // Runs before `backends`, but not in child processes of the program, which inherit its environment. `folder` is
  // private to the run. The result is destroyed after the tests. May be null.
  std::shared_ptr<void> (*prepare)(const std::string& folder) = nullptr;
};

// Called during static initialisation.
bool Register(const Entry& entry);
const std::vector<Entry>& Entries();

// The backends of all entries.
const std::vector<BackendUnderTest>& Backends();

// Environment variable that selects one PJRT plugin (pjrt:cuda, pjrt:/path). The suites then test this plugin alone.
inline constexpr char kBackendVariable[] = "CTS_BACKEND";

// Argument of PluginFile in tests of the PJRT backend's parts: the plugin of CTS_BACKEND, else "cpu". Defined in
// entries/pjrt.cc.
std::string PjrtPlugin();

// Tests that no backend can run in this build, because of its sanitizers.
std::vector<Listed> UnsupportedHere();

// First entry of `list` that matches `test` ("Suite.Test"), or nullptr.
const Listed* Find(const std::vector<Listed>& list, const std::string& test);

// GoogleTest prints the parameter of a test with this operator.
inline std::ostream& operator<<(std::ostream& out, const BackendUnderTest& backend) { return out << backend.name; }

}  // namespace hpu::cts

#endif  // HPU_PLUGIN_TESTING_CTS_BACKENDS_H_
