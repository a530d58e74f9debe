// Tests of JobRendezvous, with one thread per rank and a store for each.
#include "plugin/backends/pjrt/job_rendezvous.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include "absl/strings/str_split.h"
#include "plugin/backends/pjrt/directory_store.h"
#include "plugin/base/files/shared_memory.h"
#include "plugin/testing/cts/fixture.h"

namespace hpu::pjrt {
namespace job_rendezvous_test {

constexpr uint64_t kBytes = 4096;
constexpr std::chrono::milliseconds kWait{300};

class JobRendezvousTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string path = (std::filesystem::temp_directory_path() / "hpu_job.XXXXXX").string();
    ASSERT_NE(nullptr, mkdtemp(path.data()));
    directory_ = path;
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  JobRendezvous Job(std::chrono::milliseconds max_wait = std::chrono::minutes(1)) const {
    return JobRendezvous(0x17, std::make_unique<DirectoryStore>(directory_, "0-"), max_wait);
  }
  static hal::CommunicatorOptions Options(int rank, int size) {
    hal::CommunicatorOptions options;
    options.id = "17:a";
    options.rank = rank;
    options.size = size;
    return options;
  }

  std::string directory_;
};

TEST_F(JobRendezvousTest, AllRanksMapTheMemoryOfRank0) {
  constexpr int kRanks = 3;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back([&, rank] {
      const auto own = cts::Value(files::SharedMemory::Create(kBytes));
      own->data()[0] = static_cast<char>('0' + rank);
      const int file = cts::Value(Job().Meet(Options(rank, kRanks), own->file().get()));
      const auto shared = cts::Value(files::SharedMemory::Open(files::FileDescriptor(file), kBytes));
      ASSERT_NE(nullptr, shared);
      EXPECT_EQ('0', shared->data()[0]);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(JobRendezvousTest, MissingRanksAreNamed) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      const auto own = cts::Value(files::SharedMemory::Create(kBytes));
      cts::ExpectError(Job(kWait).Meet(Options(rank, 3), own->file().get()).status(),
                       absl::StatusCode::kDeadlineExceeded,
                       rank == 0 ? "rank 0 of 3 waited 300 ms for rank 2" : "rank 1 of 3 waited 300 ms for the other");
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(JobRendezvousTest, AbandonedRanksStopWaiting) {
  hal::CommunicatorOptions options = Options(1, 2);
  options.abandoned = [] { return true; };
  const auto own = cts::Value(files::SharedMemory::Create(kBytes));
  cts::ExpectError(Job().Meet(options, own->file().get()).status(), absl::StatusCode::kCancelled, "rank 1 of 2");
}

TEST_F(JobRendezvousTest, MemoryThatCannotBeOpenedIsNamed) {
  EXPECT_OK(DirectoryStore(directory_, "0-").Put("hpu/communicator/17:a", "/nonexistent"));
  const auto own = cts::Value(files::SharedMemory::Create(kBytes));
  cts::ExpectError(Job().Meet(Options(1, 2), own->file().get()).status(), absl::StatusCode::kUnavailable,
                   "cannot open the communicator's memory /nonexistent of rank 0");
}

TEST_F(JobRendezvousTest, IdsOfAJobHaveTheSamePrefix) {
  const std::pair<std::string, std::string> one = absl::StrSplit(Job().NewCommunicatorId(), ':');
  const std::pair<std::string, std::string> other = absl::StrSplit(Job().NewCommunicatorId(), ':');
  EXPECT_EQ("17", one.first);
  EXPECT_EQ(one.first, other.first);
  EXPECT_NE(one.second, other.second);
}

}  // namespace job_rendezvous_test
}  // namespace hpu::pjrt
