#include "plugin/compiler/background/compile_queue.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace hpu {
namespace {

using Flag = std::atomic<bool>;

// Work that notifies when it runs, and ends when notified or cancelled.
struct Blocker {
  absl::Notification runs, end;
  Flag was_cancelled{false};

  CompileQueue::Work work() {
    return [this](const Flag& cancelled) {
      runs.Notify();
      while (!end.HasBeenNotified() && !cancelled) absl::SleepFor(absl::Milliseconds(1));
      was_cancelled = cancelled.load();
    };
  }
};

class CompileQueueTest : public testing::Test {
 protected:
  ~CompileQueueTest() override { queue_.Stop(); }

  CompileQueue queue_;
  const int owner_ = 0, other_ = 0;
};

TEST_F(CompileQueueTest, RunsInOrderOnOneThreadOfLowPriority) {
  std::vector<int> order;
  absl::Notification done;
  int nice = 0;
  Blocker first;
  EXPECT_TRUE(queue_.Schedule(&owner_, first.work()));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(queue_.Schedule(&owner_, [&order, i](const Flag&) { order.push_back(i); }));
  EXPECT_TRUE(queue_.Schedule(&owner_, [&](const Flag&) {
    nice = getpriority(PRIO_PROCESS, 0);  // of the calling thread
    done.Notify();
  }));
  first.end.Notify();
  done.WaitForNotification();
  EXPECT_EQ((std::vector<int>{0, 1, 2}), order);
  EXPECT_EQ(nice, std::min(getpriority(PRIO_PROCESS, 0) + CompileQueue::kNice, 19));
}

TEST_F(CompileQueueTest, RestartsAfterIdle) {
  for (int i = 0; i < 20; ++i) {
    absl::Notification done;
    ASSERT_TRUE(queue_.Schedule(&owner_, [&done](const Flag&) { done.Notify(); }));
    done.WaitForNotification();
    if (i % 2 == 0) absl::SleepFor(absl::Milliseconds(2));  // lets the thread end
  }
}

TEST_F(CompileQueueTest, IsBounded) {
  Blocker first;
  ASSERT_TRUE(queue_.Schedule(&owner_, first.work()));
  first.runs.WaitForNotification();
  for (size_t i = 0; i < CompileQueue::kCapacity; ++i) ASSERT_TRUE(queue_.Schedule(&owner_, [](const Flag&) {}));
  EXPECT_FALSE(queue_.Schedule(&owner_, [](const Flag&) {}));
  queue_.Stop();  // the running work uses `first`
}

TEST_F(CompileQueueTest, CancelDropsQueuedWorkOfOneOwner) {
  Blocker first;
  ASSERT_TRUE(queue_.Schedule(&other_, first.work()));
  first.runs.WaitForNotification();
  Flag ran{false};
  absl::Notification done;
  const auto held = std::make_shared<int>(0);
  ASSERT_TRUE(queue_.Schedule(&owner_, [&ran, held](const Flag&) { ran = true; }));
  ASSERT_TRUE(queue_.Schedule(&other_, [&done](const Flag&) { done.Notify(); }));
  EXPECT_EQ(2, held.use_count());
  queue_.Cancel(&owner_);
  EXPECT_EQ(1, held.use_count());  // dropped by Cancel, not when the queue reaches it
  first.end.Notify();
  done.WaitForNotification();
  EXPECT_FALSE(ran);
  queue_.Stop();
  EXPECT_FALSE(first.was_cancelled);
}

TEST_F(CompileQueueTest, CancelSignalsRunningWorkWithoutWaiting) {
  Blocker first;
  ASSERT_TRUE(queue_.Schedule(&owner_, first.work()));
  first.runs.WaitForNotification();
  queue_.Cancel(&owner_);
  absl::Notification done;
  Flag cancelled_too{true};
  ASSERT_TRUE(queue_.Schedule(&other_, [&](const Flag& cancelled) {
    cancelled_too = cancelled.load();
    done.Notify();
  }));
  done.WaitForNotification();
  EXPECT_TRUE(first.was_cancelled);
  EXPECT_FALSE(cancelled_too);
}

TEST_F(CompileQueueTest, StopWaitsForRunningWorkAndDropsQueuedWork) {
  Blocker first;
  Flag ran{false};
  ASSERT_TRUE(queue_.Schedule(&owner_, first.work()));
  first.runs.WaitForNotification();
  ASSERT_TRUE(queue_.Schedule(&owner_, [&ran](const Flag&) { ran = true; }));
  queue_.Stop();
  EXPECT_TRUE(first.was_cancelled);
  EXPECT_FALSE(ran);
  EXPECT_FALSE(queue_.Schedule(&owner_, [](const Flag&) {}));
  queue_.Stop();
}

TEST_F(CompileQueueTest, ForkedChildNeitherWaitsNorSchedules) {
  Blocker first;
  ASSERT_TRUE(queue_.Schedule(&owner_, first.work()));
  first.runs.WaitForNotification();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);
    queue_.Cancel(&owner_);
    queue_.Stop();
    _exit(queue_.Schedule(&owner_, [](const Flag&) {}) ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  queue_.Stop();  // the running work uses `first`
}

}  // namespace
}  // namespace hpu
