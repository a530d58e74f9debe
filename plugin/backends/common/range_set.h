// RangeSet: address ranges, asked on every copy and launch whether they hold an access.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_RANGE_SET_H_
#define HPU_PLUGIN_BACKENDS_COMMON_RANGE_SET_H_

#include <cstddef>
#include <cstdint>
#include <shared_mutex>
#include <vector>

namespace hpu::common {

// Ranges may overlap and repeat. A question takes a shared lock and, where the range is the one that the last question
// of the same Reader found, two comparisons; else a binary search. Changes are linear in the number of ranges. Thread
// safe.
class RangeSet {
 public:
  struct Range {
    uint64_t begin;
    uint64_t end;
  };

  void Insert(uint64_t begin, uint64_t bytes);
  // Removes one range that was inserted with these values.
  void Erase(uint64_t begin, uint64_t bytes);

  // Holds the shared lock, so make it for a few questions and let it go. Not thread safe itself.
  class Reader {
   public:
    explicit Reader(const RangeSet& set) : set_(set), lock_(set.mutex_) {}

    // Whether one range holds all of [begin, begin + bytes).
    bool Contains(uint64_t begin, uint64_t bytes) {
      return (begin >= last_.begin && bytes <= last_.end - begin && begin <= last_.end) || Find(begin, bytes);
    }
    // The range that holds `begin` and reaches furthest; {0, 0} if none does. For error messages.
    Range Around(uint64_t begin) const;

   private:
    bool Find(uint64_t begin, uint64_t bytes);

    const RangeSet& set_;
    std::shared_lock<std::shared_mutex> lock_;
    Range last_{0, 0};
  };

 private:
  // Of all ranges that begin at or before `begin`, the one that ends last.
  static constexpr size_t kNone = ~size_t{0};
  size_t Candidate(uint64_t begin) const;
  void UpdateFurthest(size_t first);

  mutable std::shared_mutex mutex_;
  std::vector<Range> ranges_;     // by begin
  std::vector<size_t> furthest_;  // furthest_[i]: which of ranges_[0 … i] ends last
};

}  // namespace hpu::common

#endif  // HPU_PLUGIN_BACKENDS_COMMON_RANGE_SET_H_
