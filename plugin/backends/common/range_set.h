// RangeSet: address ranges that copies and launches may access.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_RANGE_SET_H_
#define HPU_PLUGIN_BACKENDS_COMMON_RANGE_SET_H_

#include <cstddef>
#include <cstdint>
#include <shared_mutex>
#include <vector>

namespace hpu::common {

// Ranges may overlap and repeat. A lookup tests the range that the same Reader found last, then uses binary search.
// Insert and Erase take time linear in the number of ranges. Thread safe.
class RangeSet {
 public:
  struct Range {
    uint64_t begin;
    uint64_t end;
  };

  void Insert(uint64_t begin, uint64_t bytes);
  // Removes one range that was inserted with these values.
  void Erase(uint64_t begin, uint64_t bytes);

  // A Reader holds the shared lock, so keep it for a few lookups only. A Reader is not thread safe.
  class Reader {
   public:
    explicit Reader(const RangeSet& set) : set_(set), lock_(set.mutex_) {}

    // Whether one range holds all of [begin, begin + bytes).
    bool Contains(uint64_t begin, uint64_t bytes) {
      return (begin >= last_.begin && bytes <= last_.end - begin && begin <= last_.end) || Find(begin, bytes);
    }
    // The range that holds `begin` and ends last; {0, 0} if no range holds `begin`. For error messages.
    Range Around(uint64_t begin) const;

   private:
    bool Find(uint64_t begin, uint64_t bytes);

    const RangeSet& set_;
    std::shared_lock<std::shared_mutex> lock_;
    Range last_{0, 0};
  };

 private:
  // Index of the range that ends last among the ranges that begin at or before `begin`; kNone if there is none.
  static constexpr size_t kNone = ~size_t{0};
  size_t Candidate(uint64_t begin) const;
  void UpdateFurthest(size_t first);

  mutable std::shared_mutex mutex_;
  std::vector<Range> ranges_;     // sorted by begin
  std::vector<size_t> furthest_;  // furthest_[i]: index of the range that ends last in ranges_[0 … i]
};

}  // namespace hpu::common

#endif  // HPU_PLUGIN_BACKENDS_COMMON_RANGE_SET_H_
