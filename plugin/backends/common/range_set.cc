#include "plugin/backends/common/range_set.h"

#include <algorithm>
#include <mutex>

namespace hpu::common {

void RangeSet::Insert(uint64_t begin, uint64_t bytes) {
  std::unique_lock<std::shared_mutex> lock(mutex_);
  const auto at = std::upper_bound(ranges_.begin(), ranges_.end(), begin,
                                   [](uint64_t value, const Range& range) { return value < range.begin; });
  const size_t index = at - ranges_.begin();
  ranges_.insert(at, Range{begin, begin + bytes});
  UpdateFurthest(index);
}

void RangeSet::Erase(uint64_t begin, uint64_t bytes) {
  std::unique_lock<std::shared_mutex> lock(mutex_);
  const auto at = std::find_if(ranges_.begin(), ranges_.end(),
                               [&](const Range& range) { return range.begin == begin && range.end == begin + bytes; });
  if (at == ranges_.end()) return;
  const size_t index = at - ranges_.begin();
  ranges_.erase(at);
  UpdateFurthest(index);
}

void RangeSet::UpdateFurthest(size_t first) {
  furthest_.resize(ranges_.size());
  for (size_t i = first; i < ranges_.size(); ++i) {
    const bool extends = i == 0 || ranges_[i].end > ranges_[furthest_[i - 1]].end;
    furthest_[i] = extends ? i : furthest_[i - 1];
  }
}

size_t RangeSet::Candidate(uint64_t begin) const {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), begin,
                                      [](uint64_t value, const Range& range) { return value < range.begin; });
  return after == ranges_.begin() ? kNone : furthest_[after - ranges_.begin() - 1];
}

bool RangeSet::Reader::Find(uint64_t begin, uint64_t bytes) {
  const size_t candidate = set_.Candidate(begin);
  if (candidate == kNone) return false;
  const Range& range = set_.ranges_[candidate];
  if (begin > range.end || bytes > range.end - begin) return false;
  last_ = range;
  return true;
}

RangeSet::Range RangeSet::Reader::Around(uint64_t begin) const {
  const size_t candidate = set_.Candidate(begin);
  if (candidate == kNone || begin >= set_.ranges_[candidate].end) return Range{0, 0};
  return set_.ranges_[candidate];
}

}  // namespace hpu::common
