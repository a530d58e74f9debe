// LruMap: a map of shared values that drops the values used longest ago.
#ifndef HPU_PLUGIN_BASE_CONTAINERS_LRU_MAP_H_
#define HPU_PLUGIN_BASE_CONTAINERS_LRU_MAP_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/node_hash_map.h"

namespace hpu {

// Whether only the map has the value.
struct IsOnlyInMap {
  template <typename Value>
  bool operator()(const std::shared_ptr<Value>& value) const {
    return value.use_count() == 1;
  }
};

// Add at the capacity first drops an eighth of the values: those found longest ago, among those that MayDrop permits.
// If there are none, the map grows. Find is const, and threads may call it at the same time; it writes only the time of
// use. All else needs exclusive access.
template <typename Key, typename Value, typename MayDrop = IsOnlyInMap>
class LruMap {
 public:
  explicit LruMap(size_t capacity) : capacity_(capacity) {}

  // Null if there is no value.
  std::shared_ptr<Value> Find(const Key& key) const {
    const auto it = items_.find(key);
    return it == items_.end() ? nullptr : Use(it->second);
  }

  // Requires that the map has no value for the key.
  const std::shared_ptr<Value>& Add(const Key& key, std::shared_ptr<Value> value) {
    if (items_.size() >= capacity_) Trim();
    ++now_;
    Item& item = items_[key];
    item.value = std::move(value);
    Use(item);
    return item.value;
  }

  void Erase(const Key& key) { items_.erase(key); }
  void Clear() { items_.clear(); }
  size_t size() const { return items_.size(); }

  // Calls function(value) for each value.
  template <typename Function>
  void ForEach(Function function) const {
    for (const auto& [key, item] : items_) function(item.value);
  }

 private:
  struct Item {
    std::shared_ptr<Value> value;
    mutable std::atomic<int64_t> used{0};
  };

  // The time is the number of additions. So a value that is found again and again is rarely written to.
  const std::shared_ptr<Value>& Use(const Item& item) const {
    if (item.used.load(std::memory_order_relaxed) != now_) item.used.store(now_, std::memory_order_relaxed);
    return item.value;
  }

  void Trim() {
    using Iterator = typename absl::node_hash_map<Key, Item>::iterator;
    std::vector<Iterator> unused;
    for (auto it = items_.begin(); it != items_.end(); ++it) {
      if (MayDrop()(it->second.value)) unused.push_back(it);
    }
    const size_t dropped = std::min(unused.size(), std::max<size_t>(1, capacity_ / 8));
    std::nth_element(unused.begin(), unused.begin() + dropped, unused.end(), [](Iterator a, Iterator b) {
      return a->second.used.load(std::memory_order_relaxed) < b->second.used.load(std::memory_order_relaxed);
    });
    for (size_t i = 0; i < dropped; ++i) items_.erase(unused[i]);
  }

  const size_t capacity_;
  int64_t now_ = 0;
  absl::node_hash_map<Key, Item> items_;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_BASE_CONTAINERS_LRU_MAP_H_
