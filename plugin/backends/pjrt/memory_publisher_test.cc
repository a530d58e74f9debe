// Tests of MemoryPublisher with a plugin that reports chosen figures.
#include "plugin/backends/pjrt/memory_publisher.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "plugin/testing/cts/fixture.h"
#include "plugin/testing/forwarding_pjrt.h"
#include "plugin/testing/pjrt_client.h"

namespace hpu::pjrt {
namespace memory_publisher_test {

using forwarding_pjrt::SetMemoryStats;

class MemoryPublisherTest : public ClientFixture {
 public:  // for functions that run at the process's exit
  void SetUp() override {
    ClientFixture::SetUp();
    if (!HasFatalFailure()) ForwardToPlugin();
    if (HasFatalFailure()) return;
    common::Modules modules = cts::Value(common::EmulatedModules());
    modules.lock_name = "cuda";
    auto lock = common::ModuleLock::Claim({}, modules);
    ASSERT_TRUE(lock.ok()) << lock.status();
    lock_.emplace(*std::move(lock));
  }
  void TearDown() override {
    lock_.reset();
    ClientFixture::TearDown();
    std::filesystem::remove_all(directory_);
  }

  std::string Text() const {
    std::ifstream file(directory_ + "/cuda-0");
    return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  }
  // The third line of the lock file.
  std::string Status() const {
    const std::vector<std::string> lines = absl::StrSplit(Text(), '\n');
    return lines.size() < 4 ? "" : std::string(absl::StripAsciiWhitespace(lines[2]));
  }

  const std::string directory_ = absl::StrCat(testing::TempDir(), "/locks_", getpid());
  const cts::ScopedVariable lock_directory_{"HPU_MODULE_LOCK_DIR", directory_};
  std::optional<common::ModuleLock> lock_;
};

TEST_F(MemoryPublisherTest, TheLockFileFollowsTheStatistics) {
  SetMemoryStats(123456789, 234567890, -1, -1, -1, -1);
  EXPECT_EQ("", Status());
  const MemoryPublisher publisher(*client_, *lock_, std::chrono::milliseconds(1));
  EXPECT_EQ("{\"in_use\":123456789,\"peak\":234567890}", Status());
  const size_t size = Text().size();
  SetMemoryStats(1, 2, -1, -1, -1, -1);
  while (Status() != "{\"in_use\":1,\"peak\":2}") std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(size, Text().size());
  EXPECT_EQ(absl::StrCat(getpid()), std::string(Text(), 0, Text().find('\n')));
}

TEST_F(MemoryPublisherTest, TheLargestFiguresFitTheLine) {
  SetMemoryStats(INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX);
  const MemoryPublisher publisher(*client_, *lock_);
  EXPECT_EQ(ToJson(cts::Value(client_->memory_stats())), Status());
}

TEST_F(MemoryPublisherTest, AnEndedHolderLeavesNoStatus) {
  SetMemoryStats(1, -1, -1, -1, -1, -1);
  { const MemoryPublisher publisher(*client_, *lock_); }
  EXPECT_NE("", Status());
  lock_.reset();
  EXPECT_EQ("", Text());
}

// The plugin must not be called while the process destroys the plugin's objects.
using MemoryPublisherDeathTest = MemoryPublisherTest;

TEST_F(MemoryPublisherDeathTest, NothingIsPublishedAfterTheProcessHasBegunToExit) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  static const MemoryPublisherTest* test;
  test = this;
  const auto exit = [this] {
    // Runs after the functions that are registered later.
    std::atexit([] {
      SetMemoryStats(2, -1, -1, -1, -1, -1);
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      const bool is_old = test->Status() == "{\"in_use\":1}";
      std::filesystem::remove_all(test->directory_);
      _exit(is_old ? 0 : 1);
    });
    SetMemoryStats(1, -1, -1, -1, -1, -1);
    static_cast<void>(new MemoryPublisher(*client_, *lock_, std::chrono::milliseconds(1)));
    std::exit(2);
  };
  EXPECT_EXIT(exit(), testing::ExitedWithCode(0), "");
}

}  // namespace memory_publisher_test
}  // namespace hpu::pjrt
