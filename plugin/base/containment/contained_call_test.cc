#include "plugin/base/containment/contained_call.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "plugin/compat/fatal_log.h"

namespace hpu::containment {
namespace {

using testing::ExitedWithCode;
using testing::KilledBySignal;

volatile int zero = 0;
int* volatile nowhere = nullptr;

// Fails like TensorFlow's CHECK_GE(zero - 1, 0). CHECK_GE itself may be Abseil's macro, whose texts do not reach
// TensorFlow's log sinks.
absl::Status FailCheck() {
  if (zero - 1 < 0) compat::LogFatal(__FILE__, __LINE__, "Check failed: zero - 1 >= 0");
  return absl::OkStatus();
}

absl::Status Store() {
  *nowhere = 1;
  return absl::OkStatus();
}

absl::Status Divide() {
  zero = 7 / zero;
  return absl::OkStatus();
}

int Recurse(volatile char* below) {
  volatile char frame[4096];
  frame[0] = below[0];
  return Recurse(frame) + frame[0];
}

absl::Status OverflowStack() {
  volatile char first = 0;
  return Recurse(&first) == 0 ? absl::OkStatus() : absl::CancelledError("");
}

TEST(ContainedCallTest, ReturnsTheStatus) {
  EXPECT_TRUE(RunContained("work", [] { return absl::OkStatus(); }).ok());
  const absl::Status status = RunContained("work", [] { return absl::NotFoundError("nothing there"); });
  EXPECT_EQ(status, absl::NotFoundError("nothing there"));
  EXPECT_FALSE(IsCrash(status));
}

TEST(ContainedCallTest, FailedCheckIsAnErrorWithItsText) {
  const absl::Status status = RunContained("lowering f", FailCheck);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_TRUE(IsCrash(status));
  const std::string message(status.message());
  EXPECT_NE(message.find("lowering f: Check failed: zero - 1 >= 0"), std::string::npos) << message;
  EXPECT_NE(message.find("contained_call_test.cc"), std::string::npos) << message;
}

TEST(ContainedCallTest, NamesTheInnermostActivity) {
  const absl::Status status = RunContained("lowering f", [] {
    const ActivityScope outer("call");
    { const ActivityScope before("before"); }
    const ActivityScope inner("sum");
    return FailCheck();
  });
  const std::string message(status.message());
  EXPECT_NE(message.find("lowering f at sum: Check failed"), std::string::npos) << message;
  const ActivityScope outside("outside");
}

TEST(ContainedCallTest, SignalsAreErrors) {
  for (const auto& [work, name] : {std::pair(Store, "Segmentation fault"), std::pair(Divide, "Floating point"),
                                   std::pair(OverflowStack, "Segmentation fault")}) {
    const absl::Status status = RunContained("work", work);
    EXPECT_TRUE(IsCrash(status)) << name;
    EXPECT_NE(std::string(status.message()).find(name), std::string::npos) << status;
  }
}

TEST(ContainedCallTest, ExceptionsAreErrors) {
  const absl::Status thrown = RunContained("work", []() -> absl::Status { throw std::runtime_error("odd sizes"); });
  EXPECT_EQ(thrown, absl::InternalError("work: odd sizes"));
  const absl::Status memory = RunContained("work", []() -> absl::Status { throw std::bad_alloc(); });
  EXPECT_EQ(memory.code(), absl::StatusCode::kResourceExhausted);
  const absl::Status access = RunContained("work", [] {
    const absl::StatusOr<int> none = absl::InvalidArgumentError("a size is negative");
    return none.value() == 0 ? absl::OkStatus() : absl::CancelledError("");
  });
  EXPECT_EQ(access, absl::InvalidArgumentError("a size is negative"));
}

TEST(ContainedCallTest, ContinuesAfterCrashesOnManyThreads) {
  std::atomic<int> crashes{0}, returns{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 4; ++k) {
        const absl::Status status =
            (i + k) % 2 == 0 ? RunContained("work", FailCheck) : RunContained("work", [] { return absl::OkStatus(); });
        ++(IsCrash(status) ? crashes : returns);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(crashes, 16);
  EXPECT_EQ(returns, 16);
}

TEST(ContainedCallTest, CrashesHaveNoLimit) {
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(IsCrash(RunContained("work", Store))) << i;
}

void EndWithCode(int) { _exit(42); }

using ContainedCallDeathTest = testing::Test;

TEST(ContainedCallDeathTest, OtherThreadsCrashAsBefore) {
  const auto crash = [] {
    RunContained("work", FailCheck).IgnoreError();
    Store().IgnoreError();
  };
  EXPECT_EXIT(crash(), KilledBySignal(SIGSEGV), "");
  const auto abort_later = [] {
    RunContained("work", FailCheck).IgnoreError();
    FailCheck().IgnoreError();
  };
  EXPECT_EXIT(abort_later(), KilledBySignal(SIGABRT), "Check failed");
}

TEST(ContainedCallDeathTest, TheProgramsHandlersSeeOtherThreads) {
  const auto before = [] {
    signal(SIGSEGV, EndWithCode);
    RunContained("work", Store).IgnoreError();
    Store().IgnoreError();
  };
  EXPECT_EXIT(before(), ExitedWithCode(42), "");
  const auto later = [] {
    RunContained("work", Store).IgnoreError();
    signal(SIGABRT, EndWithCode);
    if (!IsCrash(RunContained("work", FailCheck))) _exit(1);
    FailCheck().IgnoreError();
  };
  EXPECT_EXIT(later(), ExitedWithCode(42), "");
}

}  // namespace
}  // namespace hpu::containment
