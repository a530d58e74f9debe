#include "plugin/tensorflow/kernels/launch/faster_way.h"

#include <algorithm>

namespace hpu {
namespace {

constexpr int64_t kTrials = 4;         // of each way, before the choice
constexpr int64_t kRunsOfChoice = 64;  // before the other way is tried again
constexpr double kWeightOfLatest = 0.25;

}  // namespace

FasterWay::Way FasterWay::Next() {
  absl::MutexLock lock(&mutex_);
  const Times &parts = times_[kParts], &cpu = times_[kCpu];
  if (std::min(parts.runs, cpu.runs) < kTrials) return parts.runs <= cpu.runs ? kParts : kCpu;
  const Way faster = parts.mean <= cpu.mean ? kParts : kCpu;
  const Way other = faster == kParts ? kCpu : kParts;
  return ++chosen_ % kRunsOfChoice == 0 && times_[other].mean < absl::InfiniteDuration() ? other : faster;
}

void FasterWay::Add(Way way, absl::Duration time) {
  absl::MutexLock lock(&mutex_);
  Times& times = times_[way];
  // The first run compiles the parts, or creates the CPU's kernels.
  times.mean = ++times.runs <= 2 ? time : times.mean + kWeightOfLatest * (time - times.mean);
}

void FasterWay::Exclude(Way way) {
  absl::MutexLock lock(&mutex_);
  times_[way] = {kTrials, absl::InfiniteDuration()};
}

bool FasterWay::Save(recipe::v1::ClusterNotes* notes) {
  absl::MutexLock lock(&mutex_);
  if (std::min(times_[kParts].runs, times_[kCpu].runs) < kTrials) return false;
  notes->set_parts_seconds(absl::ToDoubleSeconds(times_[kParts].mean));
  notes->set_cpu_seconds(absl::ToDoubleSeconds(times_[kCpu].mean));
  return true;
}

void FasterWay::Load(const recipe::v1::ClusterNotes& notes) {
  if (!(notes.parts_seconds() > 0 && notes.cpu_seconds() > 0)) return;
  absl::MutexLock lock(&mutex_);
  times_[kParts] = {kTrials, absl::Seconds(notes.parts_seconds())};
  times_[kCpu] = {kTrials, absl::Seconds(notes.cpu_seconds())};
}

}  // namespace hpu
