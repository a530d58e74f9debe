// Trace of a device: the number of entries that the profiler functions report.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_TRACE_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_TRACE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace hpu::synapse_double {

// Size of an entry. The references do not state an entry's layout, so the double fills entries with kPoison.
inline constexpr size_t kTraceEntryBytes = 64;

// Thread safe.
class Trace {
 public:
  bool is_running() const { return is_running_; }
  void Start() {
    entry_count_ = 0;
    is_running_ = true;
  }
  void Stop() { is_running_ = false; }
  // Counts a command or a measurement while the trace runs.
  void Add() {
    if (is_running_) entry_count_.fetch_add(1);
  }
  uint64_t entry_count() const { return entry_count_; }

 private:
  std::atomic<bool> is_running_{false};
  std::atomic<uint64_t> entry_count_{0};
};

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_TRACE_H_
