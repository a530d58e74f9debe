#include "plugin/base/trace/chrome.h"

#include <unistd.h>

#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "plugin/base/json/json.h"

namespace hpu::trace {
namespace {

std::string Metadata(const char* kind, int pid, int tid, const std::string& name) {
  return absl::StrFormat(R"({"ph":"M","name":"%s","pid":%d,"tid":%d,"args":{"name":%s}})", kind, pid, tid,
                         JsonQuote(name));
}

void Append(const Event& event, int pid, std::string* json) {
  const bool instant = event.end_ns == event.begin_ns;
  absl::StrAppendFormat(json, ",\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d,\"name\":%s,\"ts\":%.3f", instant ? "i" : "X",
                        pid, static_cast<int>(event.lane), JsonQuote(event.name), event.begin_ns / 1e3);
  if (!instant) absl::StrAppendFormat(json, ",\"dur\":%.3f", (event.end_ns - event.begin_ns) / 1e3);
  if (instant) absl::StrAppend(json, ",\"s\":\"p\"");
  absl::StrAppend(json, ",\"args\":{");
  if (event.bytes > 0) absl::StrAppend(json, "\"bytes\":", event.bytes, event.detail.empty() ? "" : ",");
  if (!event.detail.empty()) absl::StrAppend(json, "\"shapes\":", JsonQuote(event.detail));
  absl::StrAppend(json, "}}");
}

}  // namespace

std::string ChromeTrace(const Session::Recorded& recorded) {
  const int pid = static_cast<int>(getpid());
  std::string json = absl::StrCat("{\"displayTimeUnit\":\"ms\",\"otherData\":{\"dropped\":", recorded.dropped,
                                  "},\"traceEvents\":[\n", Metadata("process_name", pid, 0, "/device:HPU:0"));
  std::array<bool, kLanes> used{};
  for (const Event& event : recorded.events) used[static_cast<int>(event.lane)] = true;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!used[lane]) continue;
    absl::StrAppend(&json, ",\n", Metadata("thread_name", pid, lane, LaneName(static_cast<Lane>(lane))));
  }
  for (const Event& event : recorded.events) Append(event, pid, &json);
  return absl::StrCat(json, "\n]}\n");
}

}  // namespace hpu::trace
