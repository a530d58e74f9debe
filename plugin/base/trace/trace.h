// What the device does and when: recorded while somebody asks, for TensorFlow's profiler and for trace files.
#ifndef HPU_PLUGIN_BASE_TRACE_TRACE_H_
#define HPU_PLUGIN_BASE_TRACE_TRACE_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hpu::trace {

// The rows of a trace.
enum class Lane { kCompute, kCopyToDevice, kCopyToHost, kCopyOnDevice, kCompile, kCollective, kHostRun, kMark };
inline constexpr int kLanes = 8;
const char* LaneName(Lane lane);

struct Event {
  Lane lane = Lane::kMark;
  std::string name;      // of the cluster or op
  std::string detail;    // shapes, where they were asked for; may be empty
  int64_t begin_ns = 0;  // since 1970
  int64_t end_ns = 0;
  uint64_t bytes = 0;  // of copies and collectives
};

namespace internal {
extern std::atomic<int> sessions;  // how many record
extern std::atomic<int> detailed;  // how many of them want details
}  // namespace internal

// All that tracing costs while nobody records.
inline bool IsOn() { return internal::sessions.load(std::memory_order_relaxed) > 0; }
inline bool IsDetailed() { return internal::detailed.load(std::memory_order_relaxed) > 0; }

int64_t NowNs();

// Keeps the event if somebody records. Each thread writes to a buffer of its own, whose lock only a reader contends
// for.
void Record(Event event);

// What the caller does while it lives. A name costs nothing while nobody records.
class Scope {
 public:
  Scope(Lane lane, std::string_view name, uint64_t bytes = 0) : on_(IsOn()) {
    if (!on_) return;
    event_.lane = lane;
    event_.name = name;
    event_.bytes = bytes;
    event_.begin_ns = NowNs();
  }
  ~Scope() {
    if (!on_) return;
    event_.end_ns = NowNs();
    Record(std::move(event_));
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  const bool on_;
  Event event_;
};

// Names the launches that the calling thread queues while it lives: several clusters may share a recipe.
class LaunchName {
 public:
  explicit LaunchName(std::string_view name);
  ~LaunchName();
  LaunchName(const LaunchName&) = delete;
  LaunchName& operator=(const LaunchName&) = delete;

  // Empty if there is none.
  static std::string_view Current();
};

// Somebody who records, from its making until Stop. Several may at once. Not thread safe itself.
class Session {
 public:
  explicit Session(bool detailed);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Later events are none of this session's.
  void Stop();

  struct Recorded {
    std::vector<Event> events;  // in the order of their begins
    uint64_t dropped = 0;       // a thread keeps kMaxEvents
  };
  // All that began and ended between. Stops.
  Recorded Take();

 private:
  const bool detailed_;
  const int64_t start_ns_;
  int64_t stop_ns_ = 0;  // 0 while it records
  bool released_ = false;
};

// What a thread keeps between two readings; about 40 MB.
inline constexpr size_t kMaxEvents = size_t{1} << 18;

}  // namespace hpu::trace

#endif  // HPU_PLUGIN_BASE_TRACE_TRACE_H_
