// Backends under test in the conformance suite, with their properties.
#ifndef HPU_PLUGIN_TESTING_CTS_BACKENDS_H_
#define HPU_PLUGIN_TESTING_CTS_BACKENDS_H_

#include <ostream>
#include <string>
#include <vector>

namespace hpu::cts {

// A test ("Suite.Test", with * for any text) and the reason why it is listed.
struct Listed {
  std::string pattern;
  std::string reason;
};

// To add a backend, add one entry to backends.cc. Every suite then tests it.
struct BackendUnderTest {
  std::string name;                       // suffix of the tests' names
  std::string spec;                       // value of HPU_BACKEND
  bool holds_data = true;                 // false: copies and launches have no effect, CopyToHost returns zeros
  bool exclusive = true;                  // only one process at a time can acquire a module
  bool asynchronous = true;               // work may still run when the call that queued it returns
  std::vector<Listed> unsupported;        // always skipped; the reason is printed
  std::vector<Listed> expected_failures;  // run, and must fail: remove a test when it is fixed
};

// Environment variable with the spec of the device server that main() has started, for `remote`. Not set without a
// server.
inline constexpr char kServerVariable[] = "CTS_SERVER";

// Environment variable that selects one PJRT plugin (pjrt:cuda, pjrt:/path). The suites then test this plugin alone.
inline constexpr char kBackendVariable[] = "CTS_BACKEND";

const std::vector<BackendUnderTest>& Backends();

// Argument of PluginFile in tests of the PJRT backend's parts: the plugin of CTS_BACKEND, else "cpu".
std::string PjrtPlugin();

// First entry of `list` that matches `test` ("Suite.Test"), or nullptr.
const Listed* Find(const std::vector<Listed>& list, const std::string& test);

// GoogleTest prints the parameter of a test with this operator.
inline std::ostream& operator<<(std::ostream& out, const BackendUnderTest& backend) { return out << backend.name; }

}  // namespace hpu::cts

#endif  // HPU_PLUGIN_TESTING_CTS_BACKENDS_H_
