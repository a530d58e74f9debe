// Entry point of the conformance suite of the device interface (docs/developer/hal.md).
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "plugin/testing/cts/backends.h"
#include "plugin/testing/cts/child.h"
#include "plugin/testing/cts/verdicts.h"

namespace {

// Separates this run's modules from the machine's other processes, and prepares the entries. The test's child processes
// share these modules.
class PrivateModules {
 public:
  PrivateModules() {
    constexpr char kMarker[] = "CTS_IS_CHILD";
    if (getenv(kMarker) != nullptr) return;
    setenv(kMarker, "1", 1);
    std::string path = (std::filesystem::temp_directory_path() / "hpu_cts.XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr) return;
    path_ = path;
    setenv("HPU_MODULE_LOCK_DIR", path_.c_str(), 1);
    for (const hpu::cts::Entry& entry : hpu::cts::Entries()) {
      if (entry.prepare != nullptr) prepared_.push_back(entry.prepare(path_));
    }
  }
  ~PrivateModules() {
    prepared_.clear();
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

 private:
  std::string path_;
  std::vector<std::shared_ptr<void>> prepared_;
};

}  // namespace

int main(int argc, char** argv) {
  int exit_code = 0;
  if (hpu::cts::PlayRole(argc, argv, &exit_code)) return exit_code;
  for (const hpu::cts::Entry& entry : hpu::cts::Entries()) {
    if (entry.start != nullptr) entry.start();
  }
  const PrivateModules modules;  // before the tests are instantiated for the backends
  testing::InitGoogleTest(&argc, argv);
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const int gtest_code = RUN_ALL_TESTS();
  exit_code = hpu::cts::ExitCode(*testing::UnitTest::GetInstance());
  if (gtest_code != 0 && exit_code == 0) std::printf("All failures were expected failures.\n");
  return exit_code;
}
