#include "plugin/recipes/upload_queue.h"

#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

namespace hpu::recipes {
namespace upload_queue_test {

constexpr absl::Duration kHang = absl::Seconds(60);

// Never destroyed, because the upload thread uses the queue.
UploadQueue& NewQueue() { return *new UploadQueue; }

TEST(UploadQueueTest, FlushWaitsForAllUploadsInTheirOrder) {
  UploadQueue& queue = NewQueue();
  EXPECT_EQ(queue.Flush(absl::Now()), 0u);
  std::vector<int> done;
  for (int n = 0; n < 100; ++n) queue.Add([&done, n] { done.push_back(n); });
  EXPECT_EQ(queue.Flush(absl::Now() + kHang), 0u);
  ASSERT_EQ(done.size(), 100u);
  for (int n = 0; n < 100; ++n) EXPECT_EQ(done[n], n);
}

TEST(UploadQueueTest, FlushDropsUnstartedUploadsAtTheDeadline) {
  UploadQueue& queue = NewQueue();
  absl::Notification begun, end;
  bool dropped = true;
  queue.Add([&] {
    begun.Notify();
    end.WaitForNotification();
  });
  queue.Add([&] { dropped = false; });
  begun.WaitForNotification();
  EXPECT_EQ(queue.Flush(absl::Now()), 2u);
  end.Notify();
  EXPECT_EQ(queue.Flush(absl::Now() + kHang), 0u);
  EXPECT_TRUE(dropped);
}

TEST(UploadQueueTest, ForkedChildWaitsForNothing) {
  UploadQueue& queue = NewQueue();
  absl::Notification begun, end;
  queue.Add([&] {
    begun.Notify();
    end.WaitForNotification();
  });
  begun.WaitForNotification();
  const pid_t child = fork();
  if (child == 0) _exit(queue.Flush(absl::InfiniteFuture()) == 0 ? 0 : 1);
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  end.Notify();
  queue.Flush(absl::Now() + kHang);
}

}  // namespace upload_queue_test
}  // namespace hpu::recipes
