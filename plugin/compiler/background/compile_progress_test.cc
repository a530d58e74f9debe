#include "plugin/compiler/background/compile_progress.h"

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace hpu {
namespace {

constexpr absl::Duration kFirst = absl::Milliseconds(40);
constexpr absl::Duration kInterval = absl::Milliseconds(100);

// Thread-safe list of the texts that a Display shows.
class Shown {
 public:
  void Add(const std::string& text) {
    absl::MutexLock lock(&mutex_);
    texts_.push_back(text);
  }
  // Waits for a text that contains all `parts`, and returns the latest such text.
  std::string WaitFor(const std::vector<std::string>& parts) {
    std::string found;
    auto is_there = [&]() {
      for (const std::string& text : texts_) {
        bool has_all = true;
        for (const std::string& part : parts) has_all = has_all && absl::StrContains(text, part);
        if (has_all) found = text;
      }
      return !found.empty();
    };
    absl::MutexLock lock(&mutex_);
    EXPECT_TRUE(mutex_.AwaitWithTimeout(absl::Condition(&is_there), absl::Seconds(20)));
    return found;
  }
  std::vector<std::string> texts() {
    absl::MutexLock lock(&mutex_);
    return texts_;
  }

 private:
  absl::Mutex mutex_;
  std::vector<std::string> texts_;
};

CompileProgress::Display DisplayOf(Shown* lines, Shown* redraws) {
  CompileProgress::Display display;
  display.line = [lines](const std::string& text) { lines->Add(text); };
  if (redraws != nullptr) display.redraw = [redraws](const std::string& text) { redraws->Add(text); };
  display.first = kFirst;
  display.interval = kInterval;
  display.redraw_interval = absl::Milliseconds(10);
  return display;
}

TEST(CompileProgressTest, QuickCompilesAreSilent) {
  for (const bool on_terminal : {false, true}) {
    Shown lines, redraws;
    {
      CompileProgress::Display display = DisplayOf(&lines, on_terminal ? &redraws : nullptr);
      display.first = absl::Hours(1);
      CompileProgress progress(std::move(display));
      for (int i = 0; i < 10; ++i) CompileProgress::Scope(progress, "quick", 1).SetOutcome(absl::OkStatus());
    }
    EXPECT_TRUE(lines.texts().empty());
    EXPECT_TRUE(redraws.texts().empty());
  }
}

TEST(CompileProgressTest, ReportsClusterOpsAndStepPeriodically) {
  Shown lines;
  const absl::Time start = absl::Now();
  {
    CompileProgress progress(DisplayOf(&lines, nullptr));
    CompileProgress::Scope scope(progress, "slow", 12);
    lines.WaitFor({"HPU: compiling slow (12 ops): compiling, ", " s"});
    EXPECT_GE(absl::Now() - start, kFirst);
    scope.Enter("generating code");
    lines.WaitFor({"slow (12 ops): generating code, "});
    CompileProgress::Scope other(progress, "other", 1);
    lines.WaitFor({"other (1 op): compiling"});
  }
  // At most one line per compile in each started interval, and one at the compile's end.
  EXPECT_LE(lines.texts().size(), 2 * (3 + (absl::Now() - start) / kInterval));
}

TEST(CompileProgressTest, TheLastLineIsTheOutcome) {
  const std::vector<std::pair<absl::Status, std::string>> outcomes = {
      {absl::OkStatus(), "done"}, {absl::InternalError("no"), "failed"}, {absl::CancelledError("no"), "cancelled"}};
  for (const auto& [status, outcome] : outcomes) {
    Shown lines;
    CompileProgress progress(DisplayOf(&lines, nullptr));
    {
      CompileProgress::Scope scope(progress, "slow", 12);
      lines.WaitFor({"slow (12 ops): compiling, "});
      scope.SetOutcome(status);
    }
    EXPECT_TRUE(absl::StartsWith(lines.texts().back(), "HPU: compiling slow (12 ops): " + outcome + " after "));
  }
}

TEST(CompileProgressTest, ShowsTheTimeOfTheLastCompile) {
  Shown lines;
  absl::Mutex mutex;
  std::map<std::string, absl::Duration> times = {{"slow", absl::Seconds(35)}};
  CompileProgress::Display display = DisplayOf(&lines, nullptr);
  display.last_time = [&](const std::string& cluster) -> std::optional<absl::Duration> {
    absl::MutexLock lock(&mutex);
    const auto found = times.find(cluster);
    return found == times.end() ? std::nullopt : std::make_optional(found->second);
  };
  display.ended = [&](const std::string& cluster, absl::Duration time) {
    absl::MutexLock lock(&mutex);
    times[cluster] = time;
  };
  CompileProgress progress(std::move(display));
  {
    CompileProgress::Scope scope(progress, "slow", 12);
    lines.WaitFor({"slow (12 ops): compiling, ", " s (35 s last time)"});
    scope.SetOutcome(absl::OkStatus());
    absl::MutexLock lock(&mutex);
    EXPECT_NE(times.at("slow"), absl::Seconds(35));  // recorded
  }
  CompileProgress::Scope scope(progress, "new", 12);
  EXPECT_EQ(lines.WaitFor({"new (12 ops): compiling, "}).find("last time"), std::string::npos);
}

TEST(CompileProgressTest, RedrawsOneLineOnATerminal) {
  Shown lines, redraws;
  {
    CompileProgress progress(DisplayOf(&lines, &redraws));
    {
      CompileProgress::Scope only(progress, "only", 3);
      redraws.WaitFor({"HPU: compiling only (3 ops): compiling, "});
      progress.SetWaiting(3);
      redraws.WaitFor({"HPU: compiling [....................] 0 of 4 recipes; only (3 ops): compiling"});
    }
    progress.SetWaiting(2);
    CompileProgress::Scope second(progress, "second", 3);
    redraws.WaitFor({"[#####...............] 1 of 4 recipes; second"});
    progress.SetWaiting(0);
  }
  EXPECT_EQ("", redraws.texts().back());  // the line is removed
  EXPECT_TRUE(lines.texts().empty());
}

TEST(CompileProgressTest, HidesACompileThatIsInterrupted) {
  for (const bool on_terminal : {false, true}) {
    Shown lines, redraws;
    const std::atomic<bool> cancelled{false}, other{false};
    CompileProgress progress(DisplayOf(&lines, on_terminal ? &redraws : nullptr));
    Shown& shown = on_terminal ? redraws : lines;
    {
      CompileProgress::Scope scope(progress, "slow", 12, &cancelled);
      shown.WaitFor({"slow (12 ops): compiling, "});
      progress.Hide(&other);
      progress.Hide(&cancelled);
      const size_t before = shown.texts().size();
      if (on_terminal) EXPECT_EQ(shown.texts().back(), "");
      if (!on_terminal) shown.WaitFor({"HPU: compiling slow (12 ops): interrupted after "});
      absl::SleepFor(2 * kInterval);
      progress.Hide(&cancelled);
      scope.SetOutcome(absl::OkStatus());
      EXPECT_EQ(shown.texts().size(), before);
    }
    CompileProgress::Scope next(progress, "next", 1);
    shown.WaitFor({"next (1 op): compiling, "});
  }
}

}  // namespace
}  // namespace hpu
