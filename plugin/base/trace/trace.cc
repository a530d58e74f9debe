#include "plugin/base/trace/trace.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>

namespace hpu::trace {

namespace internal {
std::atomic<int> sessions{0};
std::atomic<int> detailed{0};
}  // namespace internal

namespace {

// One thread's events. The thread writes; the thread that ends a session reads.
class Buffer {
 public:
  void Add(Event event) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (events_.size() < kMaxEvents) {
      events_.push_back(std::move(event));
    } else {
      ++dropped_;
    }
  }

  void CopyTo(int64_t begin_ns, int64_t end_ns, Session::Recorded* recorded) {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const Event& event : events_) {
      if (event.begin_ns >= begin_ns && event.end_ns <= end_ns) recorded->events.push_back(event);
    }
    recorded->dropped += dropped_;
  }

  void Clear() {
    std::lock_guard<std::mutex> lock(mutex_);
    events_ = std::vector<Event>();
    dropped_ = 0;
  }

 private:
  std::mutex mutex_;
  std::vector<Event> events_;
  uint64_t dropped_ = 0;
};

// The buffers of all threads. Buffers of ended threads stay until no session needs their events.
class Buffers {
 public:
  std::shared_ptr<Buffer> Add() {
    std::lock_guard<std::mutex> lock(mutex_);
    return buffers_.emplace_back(std::make_shared<Buffer>());
  }

  template <typename Use>
  void ForEach(const Use& use) {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const std::shared_ptr<Buffer>& buffer : buffers_) use(*buffer);
  }

  // The Release of the last session clears the buffers.
  void Begin(bool detailed) {
    std::lock_guard<std::mutex> lock(mutex_);
    ++held_;
    internal::detailed.fetch_add(detailed ? 1 : 0, std::memory_order_relaxed);
    internal::sessions.fetch_add(1, std::memory_order_relaxed);
  }

  void Release() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (--held_ > 0) return;
    for (const std::shared_ptr<Buffer>& buffer : buffers_) buffer->Clear();
    const auto gone = [](const std::shared_ptr<Buffer>& buffer) { return buffer.use_count() == 1; };
    buffers_.erase(std::remove_if(buffers_.begin(), buffers_.end(), gone), buffers_.end());
  }

 private:
  std::mutex mutex_;  // guards the list; each buffer has a separate lock
  std::vector<std::shared_ptr<Buffer>> buffers_;
  int held_ = 0;  // sessions that still need the events
};

Buffers& AllBuffers() {
  static auto* buffers = new Buffers;
  return *buffers;
}

}  // namespace

const char* LaneName(Lane lane) {
  switch (lane) {
    case Lane::kCompute:
      return "Compute";
    case Lane::kInstruction:
      return "XLA Ops";
    case Lane::kCopyToDevice:
      return "Copies to the device";
    case Lane::kCopyToHost:
      return "Copies to the host";
    case Lane::kCopyOnDevice:
      return "Copies on the device";
    case Lane::kCompile:
      return "Compiles";
    case Lane::kCollective:
      return "Collectives";
    case Lane::kCpuFallback:
      return "Runs on the CPU instead";
    case Lane::kMark:
      return "Marks";
  }
  return "";
}

int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void Record(Event event) {
  if (!IsOn()) return;
  static thread_local const std::shared_ptr<Buffer> buffer = AllBuffers().Add();
  buffer->Add(std::move(event));
}

namespace {
thread_local std::string_view launch_name;
thread_local std::string_view launch_attributes;
}  // namespace

LaunchName::LaunchName(std::string_view name, std::string_view attributes) {
  launch_name = name;
  launch_attributes = attributes;
}
LaunchName::~LaunchName() { launch_name = launch_attributes = {}; }
std::string_view LaunchName::Current() { return launch_name; }
std::string_view LaunchName::CurrentAttributes() { return launch_attributes; }

Session::Session(bool detailed) : detailed_(detailed), start_ns_(NowNs()) { AllBuffers().Begin(detailed); }

Session::~Session() {
  Stop();
  if (!released_) AllBuffers().Release();
}

void Session::Stop() {
  if (stop_ns_ != 0) return;
  stop_ns_ = NowNs();
  internal::sessions.fetch_sub(1, std::memory_order_relaxed);
  internal::detailed.fetch_sub(detailed_ ? 1 : 0, std::memory_order_relaxed);
}

Session::Recorded Session::Collect() {
  Stop();
  Recorded recorded;
  if (released_) return recorded;
  AllBuffers().ForEach([&](Buffer& buffer) { buffer.CopyTo(start_ns_, stop_ns_, &recorded); });
  released_ = true;
  AllBuffers().Release();
  std::stable_sort(recorded.events.begin(), recorded.events.end(),
                   [](const Event& a, const Event& b) { return a.begin_ns < b.begin_ns; });
  return recorded;
}

}  // namespace hpu::trace
