// Tests of exclusive modules: at most one process holds a module.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "plugin/testing/cts/child.h"
#include "plugin/testing/cts/fixture.h"

namespace hpu::cts {
namespace module_test {

constexpr auto kUnavailable = absl::StatusCode::kUnavailable;

// Each test has two modules and its own lock directory.
class ModuleTest : public CtsTest {
 protected:
  ModuleTest()
      : directory_(std::filesystem::temp_directory_path() / absl::StrCat("hpu_cts_modules.", getpid())),
        lock_dir_("HPU_MODULE_LOCK_DIR", directory_.string()),
        modules_("HPU_MODULES", "2") {
    std::filesystem::remove_all(directory_);
  }
  ~ModuleTest() override { std::filesystem::remove_all(directory_); }

  void SetUp() override {
    CtsTest::SetUp();
    ReleaseDevice();
  }

  std::unique_ptr<ChildProcess> Holder(ChildProcess::Role role = ChildProcess::Role::kHold) {
    return std::make_unique<ChildProcess>(backend().spec, role);
  }
  absl::Status Module(int id) {
    hal::AcquireOptions options;
    options.module_id = id;
    return Acquire(options).status();
  }

  std::filesystem::path lock_file() const { return directory_ / (backend().lock_name + "-0"); }

  const std::filesystem::path directory_;
  const ScopedVariable lock_dir_;
  const ScopedVariable modules_;
};

TEST_P(ModuleTest, EachProcessAcquiresTheFirstFreeModule) {
  EXPECT_EQ(2, Value(Value(hal::GetBackend(backend().spec))->ModuleCount()));
  const auto first = Holder();
  EXPECT_EQ("acquired 0", first->answer());
  const auto mine = Value(Acquire());
  ASSERT_NE(nullptr, mine);
  EXPECT_EQ(1, mine->info().module_id);
}

TEST_P(ModuleTest, ExhaustedModulesErrorNamesTheHolders) {
  const auto first = Holder();
  const auto second = Holder();
  EXPECT_EQ("acquired 1", second->answer());
  const absl::Status status = Acquire().status();
  ExpectError(status, kUnavailable, absl::StrCat("module 0: pid ", first->pid(), " (hpu_cts --cts_child="));
  ExpectError(status, kUnavailable, absl::StrCat("module 1: pid ", second->pid(), " (hpu_cts --cts_child="));
  ExpectError(status, kUnavailable, backend().shortage_advice);
  const auto third = Holder();
  EXPECT_NE(std::string::npos, third->answer().find(absl::StrCat("pid ", first->pid()))) << third->answer();
}

TEST_P(ModuleTest, KilledProcessReleasesItsModule) {
  const auto first = Holder();
  const auto second = Holder();
  first->Kill();
  const auto mine = Value(Acquire());
  ASSERT_NE(nullptr, mine);
  EXPECT_EQ(0, mine->info().module_id);
}

TEST_P(ModuleTest, ForkedChildDoesNotHoldTheModule) {
  const auto parent = Holder(ChildProcess::Role::kForkAndHold);
  EXPECT_EQ("acquired 0", parent->answer());
  parent->Kill();  // the forked child keeps running
  // Selects module 0 by number. A device server that has not yet noticed the holder's end then waits for the module.
  EXPECT_OK(Module(0));
}

TEST_P(ModuleTest, ReleasedModuleIsFreeImmediately) {
  for (int i = 0; i < 3; ++i) {
    const auto mine = Value(Acquire());
    ASSERT_NE(nullptr, mine);
    EXPECT_EQ(0, mine->info().module_id);
  }
}

TEST_P(ModuleTest, RequestedModuleIsAcquired) {
  hal::AcquireOptions options;
  options.module_id = 1;
  const auto mine = Value(Acquire(options));
  ASSERT_NE(nullptr, mine);
  EXPECT_EQ(1, mine->info().module_id);
  ExpectError(Module(1), kUnavailable, absl::StrCat("module 1: pid ", getpid()));
  EXPECT_OK(Module(0));
  ExpectError(Module(2), absl::StatusCode::kInvalidArgument, "module 2");
  ExpectError(Module(-1), absl::StatusCode::kInvalidArgument, "module -1");
}

TEST_P(ModuleTest, CheckedOptionsAcquireNothingAndHaveTheErrorOfAcquire) {
  hal::Backend* const device_backend = Value(hal::GetBackend(backend().spec));
  hal::AcquireOptions options;
  const auto first = Holder();
  const auto second = Holder();
  EXPECT_OK(device_backend->CheckOptions(options));  // all modules are held
  options.module_id = 2;
  const absl::Status checked = device_backend->CheckOptions(options);
  if (!checked.ok()) EXPECT_EQ(checked, Acquire(options).status());
  options.module_id = 1;
  EXPECT_OK(device_backend->CheckOptions(options));
}

TEST_P(ModuleTest, OnlyVisibleModulesAreAcquired) {
  hal::AcquireOptions options;
  options.visible = {1};
  const auto mine = Value(Acquire(options));
  ASSERT_NE(nullptr, mine);
  EXPECT_EQ(1, mine->info().module_id);
  ExpectError(Acquire(options).status(), kUnavailable, "module 1");
  options.module_id = 0;
  ExpectError(Acquire(options).status(), absl::StatusCode::kInvalidArgument, "HABANA_VISIBLE_MODULES");
}

TEST_P(ModuleTest, UnlockedModuleFilesAreIgnored) {
  EXPECT_OK(Acquire().status());  // creates the directory
  std::ofstream(lock_file()) << getpid() << "\nsomebody else\n";
  const auto mine = Value(Acquire());
  ASSERT_NE(nullptr, mine);
  EXPECT_EQ(0, mine->info().module_id);
}

TEST_P(ModuleTest, UnsafeDirectoriesAndFilesAreRefused) {
  constexpr auto kPrecondition = absl::StatusCode::kFailedPrecondition;
  std::filesystem::remove_all(directory_);
  std::filesystem::create_directory(directory_);
  chmod(directory_.c_str(), 0755);
  ExpectError(Acquire().status(), kPrecondition, directory_.string());
  chmod(directory_.c_str(), 0700);
  std::filesystem::create_symlink("/etc/hostname", lock_file());
  ExpectError(Acquire().status(), kPrecondition, lock_file().string());
  std::filesystem::remove(lock_file());
  std::filesystem::create_directory(lock_file());
  ExpectError(Acquire().status(), kPrecondition, lock_file().string());
  std::filesystem::remove_all(directory_);
  const auto target = std::filesystem::path(directory_.string() + ".target");
  std::filesystem::create_directory(target);
  chmod(target.c_str(), 0700);
  std::filesystem::create_directory_symlink(target, directory_);
  ExpectError(Acquire().status(), kPrecondition, directory_.string());
  std::filesystem::remove(directory_);
  std::filesystem::remove_all(target);
}

TEST_P(ModuleTest, FilesArePrivateToTheUser) {
  const auto mine = Value(Acquire());
  struct stat info;
  ASSERT_EQ(0, stat(directory_.c_str(), &info));
  EXPECT_EQ(0700u, info.st_mode & 0777);
  ASSERT_EQ(0, stat(lock_file().c_str(), &info));
  EXPECT_EQ(0600u, info.st_mode & 0777);
}

HPU_CTS_SUITE(ModuleTest);

}  // namespace module_test
}  // namespace hpu::cts
