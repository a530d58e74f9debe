#include "plugin/compiler/background/compile_progress.h"

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
  // Waits for the first text that contains all `parts`.
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

CompileProgress::Display DisplayOf(Shown* lines, Shown* bars) {
  CompileProgress::Display display;
  display.line = [lines](const std::string& text) { lines->Add(text); };
  if (bars != nullptr) display.bar = [bars](const std::string& text) { bars->Add(text); };
  display.first = kFirst;
  display.interval = kInterval;
  display.redraw = absl::Milliseconds(10);
  return display;
}

TEST(CompileProgressTest, QuickCompilesAreSilent) {
  Shown lines;
  {
    CompileProgress::Display display = DisplayOf(&lines, nullptr);
    display.first = absl::Hours(1);
    CompileProgress progress(std::move(display));
    for (int i = 0; i < 10; ++i) CompileProgress::Scope scope(progress, "quick", 1);
  }
  EXPECT_TRUE(lines.texts().empty());
}

TEST(CompileProgressTest, ReportsClusterOpsAndStepPeriodically) {
  Shown lines;
  const absl::Time start = absl::Now();
  {
    CompileProgress progress(DisplayOf(&lines, nullptr));
    CompileProgress::Scope scope(progress, "slow", 12);
    lines.WaitFor({"slow (12 ops): compiling, ", " s so far"});
    EXPECT_GE(absl::Now() - start, kFirst);
    scope.Enter("generating code");
    lines.WaitFor({"slow (12 ops): generating code, "});
    CompileProgress::Scope other(progress, "other", 1);
    lines.WaitFor({"other (1 op): compiling"});
  }
  // At most one line per compile in each started interval.
  EXPECT_LE(lines.texts().size(), 2 * (2 + (absl::Now() - start) / kInterval));
}

TEST(CompileProgressTest, DrawsABarForSeveralCompiles) {
  Shown lines, bars;
  {
    CompileProgress progress(DisplayOf(&lines, &bars));
    {
      CompileProgress::Scope first(progress, "first", 3);
      progress.SetWaiting(3);
      bars.WaitFor({"[....................] 0 of 4 recipes; first (3 ops): compiling"});
    }
    progress.SetWaiting(2);
    CompileProgress::Scope second(progress, "second", 3);
    bars.WaitFor({"[#####...............] 1 of 4 recipes; second"});
    progress.SetWaiting(0);
    lines.WaitFor({"second (3 ops)"});  // a single compile shows a line
  }
  EXPECT_EQ("", bars.texts().back());  // the bar is cleared
}

}  // namespace
}  // namespace hpu
