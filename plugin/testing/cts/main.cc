// Entry point of the conformance suite of the device interface, for every backend (docs/developer/hal.md).
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "plugin/testing/cts/backends.h"
#include "plugin/testing/cts/child.h"
#include "plugin/testing/cts/verdicts.h"

namespace {

// Separates this run's modules from the machine's other processes. The test's child processes and device server share
// these modules.
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
#ifdef HPU_HAVE_REMOTE
    if (getenv(hpu::cts::kBackendVariable) == nullptr) StartServer();
#endif
  }
  ~PrivateModules() {
    server_.reset();
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

 private:
  void StartServer() {
    // {"backend": "grpc+unix:/…", …}
    constexpr absl::string_view kBackend = "{\"backend\": \"";
    server_ =
        std::make_unique<hpu::cts::ChildProcess>("unix:" + path_ + "/server", hpu::cts::ChildProcess::Role::kServe);
    absl::string_view answer = server_->answer();
    if (!absl::ConsumePrefix(&answer, kBackend)) {
      std::printf("The device server cannot be started: %s\n", server_->answer().c_str());
      std::exit(1);
    }
    setenv(hpu::cts::kServerVariable, std::string(answer.substr(0, answer.find('"'))).c_str(), 1);
  }

  std::string path_;
  std::unique_ptr<hpu::cts::ChildProcess> server_;
};

}  // namespace

int main(int argc, char** argv) {
  int exit_code = 0;
  if (hpu::cts::PlayRole(argc, argv, &exit_code)) return exit_code;
  hpu::cts::CompileForkServer();
  const PrivateModules modules;  // before the tests are instantiated for the backends
  testing::InitGoogleTest(&argc, argv);
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const int gtest_code = RUN_ALL_TESTS();
  exit_code = hpu::cts::ExitCode(*testing::UnitTest::GetInstance());
  if (gtest_code != 0 && exit_code == 0) std::printf("All failures were expected failures.\n");
  return exit_code;
}
