#include "plugin/base/interrupts/sigint.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>

#include "gtest/gtest.h"

namespace hpu::interrupts {
namespace {

volatile sig_atomic_t calls = 0;
struct sigaction saved;

void Count(int) { calls = calls + 1; }

// A program's handler that also calls the previously installed handler.
void CountAndChain(int signal, siginfo_t* info, void* context) {
  calls = calls + 10;
  saved.sa_sigaction(signal, info, context);
}

// Number of signals since the last call.
uint64_t Signals() {
  pollfd ready{SigintDescriptor(), POLLIN, 0};
  if (poll(&ready, 1, 0) != 1) return 0;
  uint64_t number = 0;
  EXPECT_EQ(read(ready.fd, &number, sizeof(number)), static_cast<ssize_t>(sizeof(number)));
  return number;
}

class SigintTest : public testing::Test {
 protected:
  SigintTest() {
    sigaction(SIGINT, nullptr, &before_);
    signal(SIGINT, Count);
    calls = 0;
    Signals();
  }
  ~SigintTest() override { sigaction(SIGINT, &before_, nullptr); }

  struct sigaction before_;
};

TEST_F(SigintTest, TheProgramsHandlerStillRuns) {
  raise(SIGINT);
  raise(SIGINT);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(Signals(), 2);
  EXPECT_EQ(Signals(), 0);
}

TEST_F(SigintTest, AReplacedHandlerIsWatchedAgain) {
  signal(SIGINT, Count);
  raise(SIGINT);
  EXPECT_EQ(Signals(), 0);
  signal(SIGINT, Count);
  WatchSigint();
  WatchSigint();
  raise(SIGINT);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(Signals(), 1);
}

TEST_F(SigintTest, AnIgnoredSignalStaysIgnored) {
  signal(SIGINT, SIG_IGN);
  WatchSigint();
  raise(SIGINT);
  EXPECT_EQ(Signals(), 0);
  struct sigaction current;
  sigaction(SIGINT, nullptr, &current);
  EXPECT_EQ(current.sa_handler, SIG_IGN);
}

TEST_F(SigintTest, TheDefaultActionStillEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a forked child is not watched
  EXPECT_EXIT(
      {
        signal(SIGINT, SIG_DFL);
        WatchSigint();
        raise(SIGINT);
      },
      testing::KilledBySignal(SIGINT), "");
}

TEST_F(SigintTest, AHandlerThatCallsThePluginsHandlerIsCalledOnce) {
  sigaction(SIGINT, nullptr, &saved);
  struct sigaction chaining = {};
  chaining.sa_sigaction = CountAndChain;
  chaining.sa_flags = SA_SIGINFO;
  sigaction(SIGINT, &chaining, nullptr);
  WatchSigint();
  raise(SIGINT);
  EXPECT_EQ(calls, 11);  // CountAndChain and Count
  EXPECT_EQ(Signals(), 1);
}

TEST_F(SigintTest, AForkedChildRunsOnlyItsOwnHandler) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    raise(SIGINT);
    WatchSigint();
    _exit(calls == 1 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(Signals(), 0);
}

}  // namespace
}  // namespace hpu::interrupts
