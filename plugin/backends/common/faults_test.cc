#include "plugin/backends/common/faults.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>

namespace hpu::common {
namespace {

constexpr hal::StreamKind kStreams[] = {hal::StreamKind::kCompute, hal::StreamKind::kHostToDevice,
                                        hal::StreamKind::kDeviceToHost};
constexpr int kEvents = 2000;

Faults Parsed(const std::vector<std::string>& entries) {
  absl::StatusOr<Faults> faults = Faults::Parse(entries);
  EXPECT_TRUE(faults.ok()) << faults.status();
  return *std::move(faults);
}

// Numbers of the failing events among the first kEvents on a stream.
std::set<int> Failures(Faults faults, Faults::Kind kind, hal::StreamKind stream = hal::StreamKind::kCompute) {
  std::set<int> failures;
  for (int i = 1; i <= kEvents; ++i) {
    if (!faults.Count(kind, stream).ok()) failures.insert(i);
  }
  return failures;
}

TEST(FaultsTest, SeedDeterminesRandomFaults) {
  const std::set<int> hits = Failures(Parsed({"seed=7", "copy%0.05"}), Faults::kCopy);
  EXPECT_GT(hits.size(), 60u);
  EXPECT_LT(hits.size(), 150u);
  EXPECT_EQ(hits, Failures(Parsed({"seed=7", "copy%0.05"}), Faults::kCopy));
  EXPECT_NE(hits, Failures(Parsed({"seed=8", "copy%0.05"}), Faults::kCopy));
  EXPECT_NE(hits, Failures(Parsed({"seed=7", "session=2", "copy%0.05"}), Faults::kCopy));
  EXPECT_NE(hits, Failures(Parsed({"seed=7", "copy%0.05"}), Faults::kCopy, hal::StreamKind::kHostToDevice));
  EXPECT_EQ(kEvents, static_cast<int>(Failures(Parsed({"copy%1"}), Faults::kCopy).size()));
}

TEST(FaultsTest, RandomFaultsAreIndependentOfOtherStreams) {
  const std::set<int> hits = Failures(Parsed({"copy%0.05"}), Faults::kCopy);
  Faults faults = Parsed({"copy%0.05"});
  std::set<int> among_others;
  for (int i = 1; i <= kEvents; ++i) {
    for (const hal::StreamKind stream : kStreams) {
      const bool failed = !faults.Count(Faults::kCopy, stream).ok();
      if (failed && stream == hal::StreamKind::kCompute) among_others.insert(i);
    }
  }
  EXPECT_EQ(hits, among_others);
}

TEST(FaultsTest, CountsSpanAllStreamsOfADevice) {
  Faults faults = Parsed({"fill@2", "fill@4+"});
  std::vector<bool> failed;
  for (int i = 0; i < 5; ++i) failed.push_back(!faults.Count(Faults::kFill, kStreams[i % 3]).ok());
  EXPECT_EQ((std::vector<bool>{false, true, false, true, true}), failed);
}

TEST(FaultsTest, RulesMayApplyToOneSession) {
  EXPECT_TRUE(Failures(Parsed({"session=1", "launch@3#2"}), Faults::kLaunch).empty());
  EXPECT_EQ(std::set<int>{3}, Failures(Parsed({"session=2", "launch@3#2"}), Faults::kLaunch));
  EXPECT_EQ(kEvents, static_cast<int>(Failures(Parsed({"session=2", "launch@1+#2"}), Faults::kLaunch).size()));
}

TEST(FaultsTest, EachKindHasItsCode) {
  const std::pair<const char*, std::pair<Faults::Kind, absl::StatusCode>> cases[] = {
      {"launch@1", {Faults::kLaunch, absl::StatusCode::kInternal}},
      {"out_of_memory@1", {Faults::kLaunch, absl::StatusCode::kResourceExhausted}},
      {"compile@1", {Faults::kCompile, absl::StatusCode::kInternal}},
      {"lost@1", {Faults::kLost, absl::StatusCode::kAborted}},
      {"busy@1", {Faults::kBusy, absl::StatusCode::kUnavailable}},
      {"drop@1", {Faults::kDrop, absl::StatusCode::kUnavailable}},
      {"silence@1", {Faults::kSilence, absl::StatusCode::kUnavailable}},
  };
  for (const auto& [entry, expected] : cases) {
    EXPECT_EQ(expected.second, Parsed({entry}).Count(expected.first).code()) << entry;
  }
}

TEST(FaultsTest, LateEventsAreDelayedWithoutError) {
  const std::pair<const char*, Faults::Kind> cases[] = {
      {"slow_copy@1:20", Faults::kCopy}, {"slow_compile@1:20", Faults::kCompile}, {"delay@1:20", Faults::kDrop}};
  for (const auto& [entry, kind] : cases) {
    Faults faults = Parsed({entry});
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(faults.Count(kind).ok()) << entry;
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(20)) << entry;
  }
}

TEST(FaultsTest, ErrorsNameUnparsableEntries) {
  for (const char* entry :
       {"", "copy", "copy@0", "copy@-1", "copy@1++", "copy%0", "copy%1.5", "copy%nan", "copy@1:5", "slow_copy@1",
        "slow_copy@1:", "slow_copy@1:10001", "copy@1#0", "copy@1#", "seed=x", "session=", "burn@1", "copy@1#2:5"}) {
    const absl::StatusOr<Faults> faults = Faults::Parse({"copy@1", entry});
    EXPECT_EQ(absl::StatusCode::kInvalidArgument, faults.status().code()) << entry;
    EXPECT_NE(std::string::npos, faults.status().message().find(entry)) << faults.status();
  }
}

}  // namespace
}  // namespace hpu::common
