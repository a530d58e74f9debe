// Recording of timed device events, for TensorFlow's profiler and for trace files.
#ifndef HPU_PLUGIN_BASE_TRACE_TRACE_H_
#define HPU_PLUGIN_BASE_TRACE_TRACE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugin/base/trace/lane.h"
#include "plugin/base/trace/nvtx.h"

namespace hpu::trace {

// An instruction of a recipe's program.
struct Instruction {
  std::string name;     // in the backend's program: "fusion.3"
  std::string kind;     // "loop fusion", "dot"; for a kernel call, the kernel's name
  std::string program;  // name of the recipe
  std::string op;       // graph op (the last of several fused ops); empty if unknown
  std::string op_type;  // type of `op`
};

struct Event {
  Lane lane = Lane::kMark;
  std::string name;      // name of the cluster or op
  std::string detail;    // shapes and attributes if a detailed session runs; may be empty
  int64_t begin_ns = 0;  // time in nanoseconds since 1970
  int64_t end_ns = 0;
  uint64_t bytes = 0;  // size of a copy or collective; otherwise 0
  // Only for Lane::kInstruction; `name` is then the instruction's op, or the instruction's name if the op is unknown.
  std::shared_ptr<const Instruction> instruction;
};

namespace internal {
extern std::atomic<int> sessions;  // number of running sessions
extern std::atomic<int> detailed;  // number of running detailed sessions
}  // namespace internal

// The load in IsOn() is the only cost of tracing while no session runs.
inline bool IsOn() { return internal::sessions.load(std::memory_order_relaxed) > 0; }
inline bool IsDetailed() { return internal::detailed.load(std::memory_order_relaxed) > 0; }

int64_t NowNs();

// Stores the event if a session runs. Each thread writes to a separate buffer, so only a reader contends for the
// buffer's lock.
void Record(Event event);

// Records the lifetime of the object as an event, and as a range if HasNvtx(). The name is copied for these only.
class Scope {
 public:
  Scope(Lane lane, std::string_view name, uint64_t bytes = 0) : on_(IsOn()) {
    if (HasNvtx()) range_.emplace(lane, std::string(name), bytes);
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
  std::optional<NvtxRange> range_;
};

// Names the launches that the calling thread queues during the object's lifetime. The recipe's name does not suffice,
// because clusters with different names may share a recipe. `attributes`: of an op that is launched alone; may be
// empty.
class LaunchName {
 public:
  explicit LaunchName(std::string_view name, std::string_view attributes = {});
  ~LaunchName();
  LaunchName(const LaunchName&) = delete;
  LaunchName& operator=(const LaunchName&) = delete;

  // Returns the calling thread's current launch name; empty outside LaunchName scopes.
  static std::string_view Current();
  static std::string_view CurrentAttributes();
};

// A recording, from construction until Stop. Several sessions may run concurrently. Not thread safe.
class Session {
 public:
  explicit Session(bool detailed);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Ends the recording, which then excludes later events.
  void Stop();

  struct Recorded {
    std::vector<Event> events;  // ordered by begin time
    uint64_t dropped = 0;       // events beyond kMaxEvents of a thread
  };
  // All events that began and ended during the recording. Calls Stop.
  Recorded Collect();

 private:
  const bool detailed_;
  const int64_t start_ns_;
  int64_t stop_ns_ = 0;  // 0 while recording
  bool released_ = false;
};

// Capacity of a thread's buffer, about 45 MB. The buffer is emptied when the last session ends.
inline constexpr size_t kMaxEvents = size_t{1} << 18;

}  // namespace hpu::trace

#endif  // HPU_PLUGIN_BASE_TRACE_TRACE_H_
