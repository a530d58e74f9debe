// The backends that the conformance suite runs over, and what is known of each.
#ifndef HPU_PLUGIN_TESTING_CTS_BACKENDS_H_
#define HPU_PLUGIN_TESTING_CTS_BACKENDS_H_

#include <ostream>
#include <string>
#include <vector>

namespace hpu::cts {

// A test by name, "Suite.Test" with * for any text, and why it is listed.
struct Listed {
  std::string pattern;
  std::string reason;
};

// To add a backend: one entry in backends.cc. Every suite then runs over it.
struct BackendUnderTest {
  std::string name;                       // of its instances of the tests
  std::string spec;                       // as HPU_BACKEND takes it
  bool holds_data = true;                 // false: copies and launches move nothing, CopyToHost gives zeros
  bool exclusive = true;                  // a module has one process at a time
  bool asynchronous = true;               // work may still run when the call that queued it has returned
  std::vector<Listed> unsupported;        // skipped, for good; the reason is printed
  std::vector<Listed> expected_failures;  // run, and must fail: mended ones are to be taken off the list
};

// main() sets it to the spec of the device server that it has started, for `remote`. Not set: there is none.
inline constexpr char kServerVariable[] = "CTS_SERVER";

const std::vector<BackendUnderTest>& Backends();

// The entry of `list` that matches `test` ("Suite.Test"), or nullptr.
const Listed* Find(const std::vector<Listed>& list, const std::string& test);

// For the names of instantiated tests.
inline std::ostream& operator<<(std::ostream& out, const BackendUnderTest& backend) { return out << backend.name; }

}  // namespace hpu::cts

#endif  // HPU_PLUGIN_TESTING_CTS_BACKENDS_H_
