#include "plugin/tensorflow/kernels/launch/faster_way.h"

#include <algorithm>

namespace hpu {
namespace {

constexpr int64_t kTrials = 4;         // of each way, before the choice
constexpr int64_t kRunsOfChoice = 64;  // before the other way is tried again
constexpr double kWeightOfLatest = 0.25;

}  // namespace

FasterWay::FasterWay(absl::Duration cpu_mean) { times_[kCpu] = {kTrials, cpu_mean}; }

FasterWay::Choice FasterWay::Next() {
  absl::MutexLock lock(&mutex_);
  const Times &hpu = times_[kHpu], &cpu = times_[kCpu];
  if (std::min(hpu.runs, cpu.runs) < kTrials) return {hpu.runs <= cpu.runs ? kHpu : kCpu, /*is_trial=*/true};
  const Way faster = hpu.mean <= cpu.mean ? kHpu : kCpu;
  const Way other = faster == kHpu ? kCpu : kHpu;
  const bool is_trial = ++chosen_ % kRunsOfChoice == 0 && times_[other].mean < absl::InfiniteDuration();
  return {is_trial ? other : faster, is_trial};
}

void FasterWay::Add(Way way, absl::Duration time) {
  absl::MutexLock lock(&mutex_);
  Times& times = times_[way];
  // The first run compiles parts, or creates the CPU's kernels.
  times.mean = ++times.runs <= 2 ? time : times.mean + kWeightOfLatest * (time - times.mean);
}

void FasterWay::Exclude(Way way) {
  absl::MutexLock lock(&mutex_);
  times_[way] = {kTrials, absl::InfiniteDuration()};
}

bool FasterWay::Save(recipe::v1::ClusterNotes* notes) {
  absl::MutexLock lock(&mutex_);
  if (std::min(times_[kHpu].runs, times_[kCpu].runs) < kTrials) return false;
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
