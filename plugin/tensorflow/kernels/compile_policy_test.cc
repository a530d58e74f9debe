#include "plugin/tensorflow/kernels/compile_policy.h"

#include <stdlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "plugin/tensorflow/kernels/launch/faster_way.h"

namespace hpu {
namespace compile_policy_test {

using Action = CompileDecision::Action;

struct ClusterRun {
  int signature = 0, range = 0;  // range 0: no bounded recipe
  double cpu_seconds = 0;
};

// One cluster of a program, as benchmarks/compile_traces.py records it.
struct Trace {
  std::string name;
  double exact_seconds = 0, bounded_seconds = 0;  // to compile a recipe
  double share = 0;                               // time of a run on the HPU over that on the CPU
  std::vector<ClusterRun> runs;
};

std::vector<Trace> ReadTraces() {
  std::ifstream file(std::string(CTS_ROOT) + "/plugin/tensorflow/kernels/compile_traces.txt");
  std::vector<Trace> traces;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    if (line.rfind("trace ", 0) == 0) {
      Trace trace;
      std::string word, program, cluster;
      words >> word >> program >> cluster >> trace.exact_seconds >> trace.bounded_seconds >> trace.share;
      trace.name = program + " " + cluster;
      trace.exact_seconds *= 1e-6;
      trace.bounded_seconds *= 1e-6;
      traces.push_back(std::move(trace));
    } else if (!traces.empty()) {
      ClusterRun run;
      words >> run.signature >> run.range >> run.cpu_seconds;
      run.cpu_seconds *= 1e-6;
      traces.back().runs.push_back(run);
    }
  }
  return traces;
}

// Runs a trace by the policy. Compilations in the background take turns, and runs on the CPU go on meanwhile.
class Simulation {
 public:
  explicit Simulation(const Trace& trace) : trace_(trace) {}

  struct Seconds {
    double program;  // runs, and compilations for which the program waits
    double work;     // with compilations in the background
  };
  Seconds Simulate() {
    for (const ClusterRun& run : trace_.runs) Execute(run);
    return {now_, now_ + background_};
  }

 private:
  struct State {
    double cpu_seconds = 0;
    int64_t cpu_runs = 0;
    bool scheduled = false, compiled = false;
    std::unique_ptr<FasterWay> way;  // once compiled, if it has run on the CPU
  };
  struct Job {
    State* state;
    double end;
  };

  void Pass(double seconds) {
    now_ += seconds;
    for (; !jobs_.empty() && jobs_.front().end <= now_; jobs_.pop_front()) {
      State& state = *jobs_.front().state;
      state.compiled = true;
      state.scheduled = false;
      state.way = std::make_unique<FasterWay>(absl::Seconds(state.cpu_seconds / state.cpu_runs));
    }
  }

  double Compile(bool bounded) {
    const double seconds = bounded ? trace_.bounded_seconds : trace_.exact_seconds;
    longest_ = std::max(longest_, seconds);
    ++recipes_;
    return seconds;
  }

  void Launch(const State& state, const ClusterRun& run) {
    if (state.way == nullptr) return Pass(run.cpu_seconds * trace_.share);
    const FasterWay::Way way = state.way->Next().way;
    const double seconds = run.cpu_seconds * (way == FasterWay::kHpu ? trace_.share : 1);
    state.way->Add(way, absl::Seconds(seconds));
    Pass(seconds);
  }

  void Execute(const ClusterRun& run) {
    State &signature = signatures_[run.signature], &range = ranges_[run.range];
    const bool has_bucket = run.range > 0 && trace_.bounded_seconds > 0;
    if (signature.compiled) return Launch(signature, run);
    if (has_bucket && range.compiled) return Launch(range, run);
    ClusterCounts counts;
    counts.recipes = recipes_;
    counts.longest_compile_seconds = longest_;
    counts.fallbacks = signature.cpu_runs;
    counts.scheduled = signature.scheduled;
    counts.cpu_seconds = signature.cpu_seconds;
    counts.is_first = recipes_ == 0;
    counts.has_bucket = has_bucket;
    counts.bucket_scheduled = has_bucket && range.scheduled;
    counts.bucket_cpu_seconds = has_bucket ? range.cpu_seconds : 0;
    const CompileDecision decision = DecideCompile(counts);
    if (decision.action == Action::kCompile) {
      Pass(Compile(decision.for_bucket));
      (decision.for_bucket ? range : signature).compiled = true;
      return Pass(run.cpu_seconds * trace_.share);
    }
    for (State* const state : {&signature, &range}) {
      state->cpu_seconds += run.cpu_seconds;
      ++state->cpu_runs;
    }
    Pass(run.cpu_seconds);
    if (decision.action != Action::kCompileInBackground) return;
    State& compiled = decision.for_bucket ? range : signature;
    if (compiled.scheduled || compiled.compiled) return;
    const double seconds = Compile(decision.for_bucket);
    compiled.scheduled = true;
    background_ += seconds;
    jobs_.push_back({&compiled, std::max(now_, jobs_.empty() ? 0 : jobs_.back().end) + seconds});
  }

  const Trace& trace_;
  std::map<int, State> signatures_, ranges_;
  std::deque<Job> jobs_;
  double now_ = 0, background_ = 0, longest_ = 0;
  int recipes_ = 0;
};

// The least time of a program that knows all runs in advance: for each range and signature, the best of the ways. The
// first signature is compiled at once, by rule.
double BestInHindsight(const Trace& trace) {
  std::map<int, int> ranges;  // of each signature: its first run has none, as long as no size is known to change
  for (const ClusterRun& run : trace.runs) ranges[run.signature] = std::max(ranges[run.signature], run.range);
  std::map<int, std::map<int, double>> cpu_seconds;  // by range, then by signature
  for (const ClusterRun& run : trace.runs) cpu_seconds[ranges[run.signature]][run.signature] += run.cpu_seconds;
  double best = 0;
  for (const auto& [range, signatures] : cpu_seconds) {
    double each = 0, all_on_cpu = 0;
    for (const auto& [signature, seconds] : signatures) {
      const double on_hpu = trace.exact_seconds + seconds * trace.share;
      if (signature == trace.runs.front().signature) {
        best += on_hpu;
        continue;
      }
      each += std::min(seconds, on_hpu);
      all_on_cpu += seconds;
    }
    const bool has_bucket = range > 0 && trace.bounded_seconds > 0;
    best += has_bucket ? std::min(each, trace.bounded_seconds + all_on_cpu * trace.share) : each;
  }
  return best;
}

class CompilePolicyTest : public ::testing::Test {
 protected:
  // A decision comes after a run. A compilation in the background may take longer than those before it, so that all
  // processors together work a little more.
  static Simulation::Seconds Check(const Trace& trace, double best) {
    const Simulation::Seconds seconds = Simulation(trace).Simulate();
    const double longest_run = absl::c_max_element(trace.runs, [](const ClusterRun& a, const ClusterRun& b) {
                                 return a.cpu_seconds < b.cpu_seconds;
                               })->cpu_seconds;
    EXPECT_LE(seconds.program, 2 * best + longest_run) << trace.name << ", best " << best;
    EXPECT_LE(seconds.work, 2.5 * best + longest_run) << trace.name << ", best " << best;
    return seconds;
  }
  void SetUp() override {
    setenv("HPU_COMPILE_MODE", "auto", 1);
    unsetenv("TF_CPU_RUNTIME_FALLBACK");
    unsetenv("TF_ENABLE_DYNAMIC_SHAPES");
  }
  void TearDown() override { unsetenv("HPU_COMPILE_MODE"); }
};

// Each trace once, and as 50 epochs.
TEST_F(CompilePolicyTest, TakesAtMostTwiceTheBestTimeOnRecordedTraces) {
  const std::vector<Trace> traces = ReadTraces();
  ASSERT_GE(traces.size(), 12u);
  for (Trace trace : traces) {
    ASSERT_GE(trace.runs.size(), 10u) << trace.name;
    Check(trace, BestInHindsight(trace));
    const std::vector<ClusterRun> epoch = trace.runs;
    for (int i = 1; i < 50; ++i) trace.runs.insert(trace.runs.end(), epoch.begin(), epoch.end());
    const double best = BestInHindsight(trace);
    const Simulation::Seconds seconds = Check(trace, best);
    printf("%-60s %6.2f s, with compilations in the background %6.2f s, best %6.2f s\n", trace.name.c_str(),
           seconds.program, seconds.work, best);
  }
}

// One size, a new size at each step, two sizes in turns, sizes that come in blocks: with compilations and
// devices of all speeds.
TEST_F(CompilePolicyTest, TakesAtMostTwiceTheBestTimeOnSyntheticTraces) {
  const std::vector<int (*)(int)> patterns = {[](int) { return 0; }, [](int i) { return i; },
                                              [](int i) { return i % 2; }, [](int i) { return i / 50; },
                                              [](int i) { return i % 17; }};
  for (size_t pattern = 0; pattern < patterns.size(); ++pattern) {
    for (const double compile : {0.01, 0.3, 10.0}) {
      for (const double share : {0.1, 0.5, 1.0, 3.0}) {
        for (const int ranges : {0, 1, 4}) {
          Trace trace{absl::StrCat("pattern ", pattern, ", share ", share, ", ranges ", ranges),
                      compile,
                      1.5 * compile,
                      share,
                      {}};
          for (int i = 0; i < 1000; ++i) {
            const int signature = patterns[pattern](i);
            trace.runs.push_back({signature, ranges == 0 ? 0 : 1 + signature % ranges, 0.002});
          }
          Check(trace, BestInHindsight(trace));
        }
      }
    }
  }
}

}  // namespace compile_policy_test
}  // namespace hpu
