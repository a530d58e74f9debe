#include "plugin/base/threads/caller_threads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "tsl/platform/env.h"
#include "tsl/platform/threadpool.h"

namespace hpu {
namespace caller_threads_test {

using Closure = CallerThreads::Closure;

TEST(CallerThreadsTest, RunsChainsOnTheWaitingThread) {
  int helpers = 0;
  CallerThreads threads([&helpers](Closure) { ++helpers; });  // a pool whose threads are all busy
  std::vector<std::thread::id> ran;
  int left = 100;
  Closure next = [&] {
    ran.push_back(std::this_thread::get_id());
    if (--left == 0) return threads.ending()();
    (*threads.runner())(next);
  };
  (*threads.runner())(next);
  EXPECT_EQ(helpers, 0) << "a first closure needs no other thread";
  threads.Wait();
  EXPECT_EQ(ran, std::vector<std::thread::id>(100, std::this_thread::get_id()));
}

TEST(CallerThreadsTest, DoesNotNestClosuresOfAPoolThatRunsThemAtOnce) {
  CallerThreads threads([](Closure closure) { closure(); });
  int depth = 0, deepest = 0, left = 100;
  Closure next = [&] {
    deepest = std::max(deepest, ++depth);
    if (--left == 0) {
      threads.ending()();
    } else {
      (*threads.runner())(next);
    }
    --depth;
  };
  (*threads.runner())(next);
  threads.Wait();
  EXPECT_EQ(left, 0);
  EXPECT_EQ(deepest, 1);
}

TEST(CallerThreadsTest, ThreadsOfThePoolHelp) {
  tsl::thread::ThreadPool pool(tsl::Env::Default(), "helpers", 2);
  CallerThreads threads([&pool](Closure closure) { pool.Schedule(std::move(closure)); });
  std::atomic<int> at_barrier{0}, left{2};
  const Closure meet = [&] {
    ++at_barrier;
    while (at_barrier < 2) std::this_thread::yield();  // until another thread runs the other closure
    if (--left == 0) threads.ending()();
  };
  (*threads.runner())(meet);
  (*threads.runner())(meet);
  threads.Wait();
  EXPECT_EQ(at_barrier, 2);
}

TEST(CallerThreadsTest, RunsClosuresOfOtherThreadsWhileItWaits) {
  CallerThreads threads([](Closure) {});
  std::thread::id ran;
  std::thread other([&threads, &ran] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    (*threads.runner())([&threads, &ran] {
      ran = std::this_thread::get_id();
      threads.ending()();
    });
  });
  threads.Wait();
  other.join();
  EXPECT_EQ(ran, std::this_thread::get_id());
}

TEST(CallerThreadsTest, ClosuresThatArriveTogetherRunTogether) {
  tsl::thread::ThreadPool pool(tsl::Env::Default(), "helpers", 2);
  CallerThreads threads([&pool](Closure closure) { pool.Schedule(std::move(closure)); });
  std::atomic<int> at_barrier{0}, left{2};
  const Closure meet = [&] {
    ++at_barrier;
    while (at_barrier < 2) std::this_thread::yield();
    if (--left == 0) threads.ending()();
  };
  std::thread other([&threads, &meet] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));  // until the caller waits
    (*threads.runner())(meet);
    (*threads.runner())(meet);
  });
  threads.Wait();
  other.join();
  EXPECT_EQ(at_barrier, 2);
}

TEST(CallerThreadsTest, ManyCallsWithManyClosuresEnd) {
  tsl::thread::ThreadPool pool(tsl::Env::Default(), "helpers", 4);
  const CallerThreads::Runner schedule = [&pool](Closure closure) { pool.Schedule(std::move(closure)); };
  for (int call = 0; call < 300; ++call) {
    std::atomic<int> left{1 + 2 + 4 + 8 + 16 + 32};
    std::optional<CallerThreads> threads(schedule);
    const std::function<void(int)> spread = [&](int depth) {
      for (int i = 0; depth < 5 && i < 2; ++i) (*threads->runner())([&spread, depth] { spread(depth + 1); });
      Closure end = threads->ending();
      if (--left == 0) end();
    };
    (*threads->runner())([&spread] { spread(0); });
    threads->Wait();
    EXPECT_EQ(left, 0);
    threads.reset();  // the pool may still look for work
  }
}

}  // namespace caller_threads_test
}  // namespace hpu
