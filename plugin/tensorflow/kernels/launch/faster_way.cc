#include "plugin/tensorflow/kernels/launch/faster_way.h"

#include <algorithm>

namespace hpu {
namespace {

constexpr int64_t kTrials = 4;           // of each way, before the choice
constexpr int64_t kTrialsOfSlow = 2;     // of a way that takes much longer
constexpr double kMuchLonger = 3;        // times the other way's time
constexpr int64_t kLongestPause = 4096;  // between later trials
constexpr double kWeightOfLatest = 0.25;

}  // namespace

FasterWay::FasterWay(absl::Duration cpu_mean) { times_[kCpu] = {kTrials, cpu_mean}; }

bool FasterWay::IsTried(Way way) const {
  const Times &own = times_[way], &other = times_[way == kHpu ? kCpu : kHpu];
  if (own.runs >= kTrials) return true;
  return std::min(own.runs, other.runs) >= kTrialsOfSlow && own.mean > kMuchLonger * other.mean;
}

FasterWay::Choice FasterWay::Next() {
  absl::MutexLock lock(&mutex_);
  const Times &hpu = times_[kHpu], &cpu = times_[kCpu];
  if (!IsTried(kHpu) || !IsTried(kCpu)) {
    const bool is_hpu = IsTried(kCpu) || (!IsTried(kHpu) && hpu.runs <= cpu.runs);
    return {is_hpu ? kHpu : kCpu, /*is_trial=*/true};
  }
  const Way faster = hpu.mean <= cpu.mean ? kHpu : kCpu;
  if (faster != faster_) {
    faster_ = faster;
    pause_ = runs_left_ = kRunsOfChoice;
  }
  if (--runs_left_ > 0) return {faster, /*is_trial=*/false};
  pause_ = runs_left_ = std::min(2 * pause_, kLongestPause);
  const Way other = faster == kHpu ? kCpu : kHpu;
  const bool is_trial = times_[other].mean < absl::InfiniteDuration();
  return {is_trial ? other : faster, is_trial};
}

void FasterWay::Add(Way way, absl::Duration time) {
  absl::MutexLock lock(&mutex_);
  Times& times = times_[way];
  if (way != faster_ && time < times_[faster_].mean) pause_ = runs_left_ = kRunsOfChoice;
  // The first run compiles parts, or creates the CPU's kernels.
  times.mean = ++times.runs <= 2 ? time : times.mean + kWeightOfLatest * (time - times.mean);
}

void FasterWay::Exclude(Way way) {
  absl::MutexLock lock(&mutex_);
  times_[way] = {kTrials, absl::InfiniteDuration()};
}

bool FasterWay::Save(recipe::v1::ClusterNotes* notes) {
  absl::MutexLock lock(&mutex_);
  if (!IsTried(kHpu) || !IsTried(kCpu)) return false;
  notes->set_parts_seconds(absl::ToDoubleSeconds(times_[kHpu].mean));
  notes->set_cpu_seconds(absl::ToDoubleSeconds(times_[kCpu].mean));
  return true;
}

void FasterWay::Load(const recipe::v1::ClusterNotes& notes) {
  if (!(notes.parts_seconds() > 0 && notes.cpu_seconds() > 0)) return;
  absl::MutexLock lock(&mutex_);
  times_[kHpu] = {kTrials, absl::Seconds(notes.parts_seconds())};
  times_[kCpu] = {kTrials, absl::Seconds(notes.cpu_seconds())};
}

}  // namespace hpu
