// The conformance suite of the device interface over every backend (docs/hal.md).
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "plugin/cts/child.h"
#include "plugin/cts/verdicts.h"

namespace {

// Modules of this run are not those of the machine's other processes. The program's own child processes share them.
class PrivateLockDirectory {
 public:
  PrivateLockDirectory() {
    constexpr char kMarker[] = "CTS_IS_CHILD";
    if (getenv(kMarker) != nullptr) return;
    setenv(kMarker, "1", 1);
    std::string path = (std::filesystem::temp_directory_path() / "hpu_cts.XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr) return;
    path_ = path;
    setenv("HPU_EMULATOR_LOCK_DIR", path_.c_str(), 1);
  }
  ~PrivateLockDirectory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

 private:
  std::string path_;
};

}  // namespace

int main(int argc, char** argv) {
  int exit_code = 0;
  if (hpu::cts::PlayRole(argc, argv, &exit_code)) return exit_code;
  testing::InitGoogleTest(&argc, argv);
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const PrivateLockDirectory directory;
  const int gtest_code = RUN_ALL_TESTS();
  exit_code = hpu::cts::ExitCode(*testing::UnitTest::GetInstance());
  if (gtest_code != 0 && exit_code == 0) std::printf("Every failure was an expected one.\n");
  return exit_code;
}
