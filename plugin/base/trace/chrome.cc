#include "plugin/base/trace/chrome.h"

#include <unistd.h>

#include <array>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "plugin/base/json/json.h"
#include "plugin/base/trace/instruction_stats.h"

namespace hpu::trace {
namespace {

std::string Metadata(const char* kind, int pid, int tid, const std::string& name) {
  return absl::StrFormat(R"({"ph":"M","name":"%s","pid":%d,"tid":%d,"args":{"name":%s}})", kind, pid, tid,
                         JsonQuote(name));
}

// The stats of each instruction as JSON members. Each instruction is looked up once.
class StatsText {
 public:
  const std::string& Of(const Instruction& instruction) {
    const auto [found, is_new] = texts_.try_emplace(&instruction);
    if (is_new) {
      for (const auto& [name, value] : StatsOf(instruction)) {
        absl::StrAppend(&found->second, found->second.empty() ? "" : ",", JsonQuote(name), ":", JsonQuote(value));
      }
    }
    return found->second;
  }

 private:
  std::map<const Instruction*, std::string> texts_;
};

void Append(const Event& event, int pid, StatsText* stats, std::string* json) {
  const bool instant = event.end_ns == event.begin_ns;
  absl::StrAppendFormat(json, ",\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d,\"name\":%s,\"ts\":%.3f", instant ? "i" : "X",
                        pid, static_cast<int>(event.lane), JsonQuote(event.name), event.begin_ns / 1e3);
  if (!instant) absl::StrAppendFormat(json, ",\"dur\":%.3f", (event.end_ns - event.begin_ns) / 1e3);
  if (instant) absl::StrAppend(json, ",\"s\":\"p\"");
  absl::StrAppend(json, ",\"args\":{");
  if (event.bytes > 0) absl::StrAppend(json, "\"bytes\":", event.bytes, event.detail.empty() ? "" : ",");
  if (!event.detail.empty()) absl::StrAppend(json, "\"shapes\":", JsonQuote(event.detail));
  if (event.instruction != nullptr) absl::StrAppend(json, stats->Of(*event.instruction));
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
  StatsText stats;
  for (const Event& event : recorded.events) Append(event, pid, &stats, &json);
  return absl::StrCat(json, "\n]}\n");
}

}  // namespace hpu::trace
