// Tests of ComputeThreads: all tasks run exactly once, and no caller waits for a busy thread.
#include "plugin/backends/emulator/threads/compute_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"

namespace hpu::emulator {
namespace {

TEST(ComputeThreadsTest, RunsEachTaskOnce) {
  for (const int count : {1, 2, 5}) {
    std::atomic<int> runs{0};
    {
      ComputeThreads threads(count);
      EXPECT_EQ(threads.NumThreads(), count);
      for (int i = 0; i < 1000; ++i) {
        threads.Schedule([&] {
          ++runs;
          threads.Schedule([&] { ++runs; });
        });
      }
    }
    EXPECT_EQ(runs, 2000) << count << " threads";
  }
}

TEST(ComputeThreadsTest, NumbersItsThreads) {
  ComputeThreads threads(2), others(1);
  absl::BlockingCounter both(2);
  absl::Notification release;  // so that each thread runs one task
  std::atomic<int> ids[2] = {-1, -1};
  for (std::atomic<int>& id : ids) {
    threads.Schedule([&] {
      id = threads.CurrentThreadId();
      EXPECT_EQ(others.CurrentThreadId(), -1);
      both.DecrementCount();
      release.WaitForNotification();
    });
  }
  both.Wait();
  release.Notify();
  EXPECT_EQ((std::set<int>{ids[0], ids[1]}), (std::set<int>{0, 1}));
  EXPECT_EQ(threads.CurrentThreadId(), -1);
}

TEST(ComputeThreadsTest, CallingThreadRunsTheFirstTask) {
  ComputeThreads threads(2);
  std::thread::id ran;
  threads.ScheduleWithHint(
      [&] {
        ran = std::this_thread::get_id();
        EXPECT_EQ(threads.CurrentThreadId(), 0);  // so that nested work is not split again
      },
      0, 1);
  EXPECT_EQ(ran, std::this_thread::get_id());
  EXPECT_EQ(threads.CurrentThreadId(), -1);
}

TEST(ComputeThreadsTest, CallingThreadRunsUnstartedTasks) {
  ComputeThreads threads(2);
  absl::Notification release;
  absl::BlockingCounter busy(2);
  for (int i = 0; i < 2; ++i) {
    threads.Schedule([&] {
      busy.DecrementCount();
      release.WaitForNotification();
    });
  }
  busy.Wait();
  std::thread::id ran;
  threads.ScheduleWithHint([&] { threads.ScheduleWithHint([&] { ran = std::this_thread::get_id(); }, 1, 2); }, 0, 1);
  EXPECT_EQ(ran, std::this_thread::get_id());
  release.Notify();
}

TEST(ComputeThreadsTest, FirstTaskOfAWorkerIsQueued) {
  ComputeThreads threads(1);
  absl::Notification inner;
  std::atomic<bool> nested{false};
  threads.Schedule([&] {
    threads.ScheduleWithHint([&] { inner.Notify(); }, 0, 1);
    nested = inner.HasBeenNotified();
  });
  inner.WaitForNotification();
  EXPECT_FALSE(nested);
}

}  // namespace
}  // namespace hpu::emulator
