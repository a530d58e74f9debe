#include "plugin/compiler/background/interruptible_compiles.h"

#include <stdlib.h>

#include <atomic>
#include <memory>
#include <thread>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace hpu {
namespace {

// Work that ends when notified, and ignores its cancellation, like a compiler.
struct Stubborn {
  absl::Notification runs, end;
  std::atomic<bool> was_cancelled{false};

  CompileQueue::Work work() {
    return [this](const std::atomic<bool>& cancelled) {
      runs.Notify();
      end.WaitForNotification();
      was_cancelled = cancelled.load();
    };
  }
};

void AwaitIdle(const InterruptibleCompiles& compiles) {
  while (compiles.running() > 0) absl::SleepFor(absl::Milliseconds(1));
}

TEST(InterruptibleCompilesTest, ReturnsAfterTheWork) {
  InterruptibleCompiles compiles;
  bool ran = false, cancelled_too = true;
  const auto held = std::make_shared<int>(0);
  EXPECT_TRUE(compiles
                  .Run("cluster",
                       [&, held](const std::atomic<bool>& cancelled) {
                         ran = true;
                         cancelled_too = cancelled.load();
                       })
                  .ok());
  EXPECT_TRUE(ran);
  EXPECT_FALSE(cancelled_too);
  EXPECT_EQ(held.use_count(), 1);  // the work's state is freed
  compiles.Interrupt();            // nothing waits
  EXPECT_TRUE(compiles.Run("cluster", [](const std::atomic<bool>&) {}).ok());
}

TEST(InterruptibleCompilesTest, InterruptEndsAllWaitsDuringTheWork) {
  InterruptibleCompiles compiles;
  Stubborn first, second;
  absl::Status first_status, second_status;
  std::thread first_thread([&] { first_status = compiles.Run("first", first.work()); });
  std::thread second_thread([&] { second_status = compiles.Run("second", second.work()); });
  first.runs.WaitForNotification();
  second.runs.WaitForNotification();
  compiles.Interrupt();
  first_thread.join();
  second_thread.join();
  EXPECT_EQ(compiles.running(), 2);  // the compilers still run
  EXPECT_TRUE(absl::IsCancelled(first_status)) << first_status;
  EXPECT_TRUE(absl::IsCancelled(second_status)) << second_status;
  EXPECT_NE(first_status.message().find("first: interrupted (Ctrl-C)"), std::string::npos) << first_status;
  first.end.Notify();
  second.end.Notify();
  AwaitIdle(compiles);
  EXPECT_TRUE(first.was_cancelled && second.was_cancelled);
}

TEST(InterruptibleCompilesTest, ALaterCompileIsNotInterrupted) {
  InterruptibleCompiles compiles;
  Stubborn first;
  std::thread thread([&] { compiles.Run("first", first.work()).IgnoreError(); });
  first.runs.WaitForNotification();
  compiles.Interrupt();
  thread.join();
  EXPECT_TRUE(compiles.Run("second", [](const std::atomic<bool>&) {}).ok());
  first.end.Notify();
  AwaitIdle(compiles);
}

struct Destructor {
  ~Destructor() { _exit(7); }  // like a static object whose destruction crashes a running compiler
};

TEST(InterruptibleCompilesTest, AProcessThatExitsDuringACompileKeepsItsExitCode) {
  const auto exit_during_compile = [](bool finish) {
    static Destructor destructor;
    auto* compiles = new InterruptibleCompiles;
    auto* work = new Stubborn;
    std::thread([=] { compiles->Run("cluster", work->work()).IgnoreError(); }).detach();
    work->runs.WaitForNotification();
    compiles->Interrupt();
    compiles->Stop();
    if (finish) {
      work->end.Notify();
      AwaitIdle(*compiles);
    }
    exit(3);
  };
  EXPECT_EXIT(exit_during_compile(/*finish=*/false), testing::ExitedWithCode(3), "");
  EXPECT_EXIT(exit_during_compile(/*finish=*/true), testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace hpu
