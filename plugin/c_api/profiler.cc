// Trace functions of the C interface, for Python's hooks and HABANA_PROFILE.
#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "plugin/base/trace/chrome.h"
#include "plugin/base/trace/instruction_stats.h"
#include "plugin/base/trace/trace.h"
#include "plugin/c_api/c_api.h"
#include "plugin/c_api/c_buffer.h"

namespace {

struct Sessions {
  absl::Mutex mutex;
  int32_t last ABSL_GUARDED_BY(mutex) = 0;
  std::map<int32_t, std::unique_ptr<hpu::trace::Session>> open ABSL_GUARDED_BY(mutex);
};

Sessions& AllSessions() {
  static auto* sessions = new Sessions;
  return *sessions;
}

}  // namespace

int32_t hpu_trace_start(int32_t detailed) {
  Sessions& sessions = AllSessions();
  absl::MutexLock lock(&sessions.mutex);
  sessions.open.emplace(++sessions.last, std::make_unique<hpu::trace::Session>(detailed != 0));
  return sessions.last;
}

hpu_buffer hpu_trace_stop(int32_t session) {
  std::unique_ptr<hpu::trace::Session> found;
  {
    Sessions& sessions = AllSessions();
    absl::MutexLock lock(&sessions.mutex);
    const auto entry = sessions.open.find(session);
    if (entry == sessions.open.end()) return hpu::MakeBuffer("");
    found = std::move(entry->second);
    sessions.open.erase(entry);
  }
  return hpu::MakeBuffer(hpu::trace::ChromeTrace(found->Collect()));
}

void hpu_trace_set_source_line_finder(hpu_source_line_finder finder) { hpu::trace::SetSourceLineFinder(finder); }

void hpu_trace_mark(const char* name, int64_t begin_ns, int64_t end_ns) {
  if (!hpu::trace::IsOn()) return;
  hpu::trace::Event event;
  event.lane = hpu::trace::Lane::kMark;
  event.name = name;
  event.begin_ns = begin_ns;
  event.end_ns = end_ns;
  hpu::trace::Record(std::move(event));
}
