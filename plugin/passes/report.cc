#include "plugin/passes/report.h"

#include <deque>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/log/log.h"
#include "tensorflow/core/platform/logging.h"

namespace hpu::passes {
namespace {

constexpr size_t kKeptReports = 64;

std::string Quote(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppend(&quoted, "\\u", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad4));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

template <typename List, typename Format>
std::string JsonList(const List& list, Format format) {
  return absl::StrCat("[", absl::StrJoin(list, ",", format), "]");
}

struct RecentList {
  std::mutex mutex;
  std::deque<std::string> reports;
};

RecentList& Recent() {
  static auto* list = new RecentList();
  return *list;
}

// One line for the graph, at lower levels one for each cluster and each op outside.
void LogReport(const Report& report) {
  HPU_LOG(kPasses, kInfo) << report.graph << ": " << report.nodes << " nodes, " << report.hpu_nodes << " on the HPU, "
                          << report.clusters.size() << " clusters";
  if (!log::IsOn(log::Module::kPasses, log::Level::kDebug)) return;
  for (const Cluster& cluster : report.clusters) {
    HPU_LOG(kPasses, kDebug) << cluster.name << ": " << cluster.ops << " ops, " << cluster.arguments << " arguments, "
                             << cluster.results << " results";
  }
  for (const Refusal& refusal : report.refusals) {
    HPU_LOG(kPasses, kTrace) << refusal.node << " (" << refusal.op << ") stays out: " << refusal.rule << ", "
                             << refusal.reason;
  }
}

}  // namespace

void Report::Refuse(std::string_view node, std::string_view op, std::string_view rule, std::string_view reason) {
  refusals.push_back({std::string(node), std::string(op), std::string(rule), std::string(reason)});
}

std::string Report::ToJson() const {
  const std::string refused = JsonList(refusals, [](std::string* out, const Refusal& r) {
    absl::StrAppend(out, "{\"node\":", Quote(r.node), ",\"op\":", Quote(r.op), ",\"rule\":", Quote(r.rule),
                    ",\"reason\":", Quote(r.reason), "}");
  });
  const std::string rewritten = JsonList(rewrites, [](std::string* out, const Rewrite& r) {
    absl::StrAppend(out, "{\"node\":", Quote(r.node), ",\"op\":", Quote(r.op), ",\"pass\":", Quote(r.pass),
                    ",\"what\":", Quote(r.what), "}");
  });
  const std::string made = JsonList(clusters, [](std::string* out, const Cluster& c) {
    absl::StrAppend(out, "{\"name\":", Quote(c.name), ",\"device\":", Quote(c.device),
                    ",\"must_compile\":", c.must_compile ? "true" : "false", ",\"ops\":", c.ops,
                    ",\"arguments\":", c.arguments, ",\"constants\":", c.constants, ",\"resources\":", c.resources,
                    ",\"results\":", c.results, "}");
  });
  const std::string cut = JsonList(cuts, [](std::string* out, const Cut& c) {
    absl::StrAppend(out, "{\"cluster\":", Quote(c.cluster), ",\"rule\":", Quote(c.rule),
                    ",\"reason\":", Quote(c.reason), "}");
  });
  const std::string timed = JsonList(times, [](std::string* out, const PassTime& t) {
    absl::StrAppend(out, "{\"pass\":", Quote(t.pass), ",\"seconds\":", t.seconds, "}");
  });
  return absl::StrCat("{\"graph\":", Quote(graph), ",\"nodes\":", nodes, ",\"hpu_nodes\":", hpu_nodes,
                      ",\"refusals\":", refused, ",\"rewrites\":", rewritten, ",\"clusters\":", made, ",\"cuts\":", cut,
                      ",\"times\":", timed, "}");
}

std::string RecentReports() {
  RecentList& recent = Recent();
  std::lock_guard<std::mutex> lock(recent.mutex);
  return absl::StrCat("[", absl::StrJoin(recent.reports, ","), "]");
}

void KeepReport(const Report& report) {
  std::string json = report.ToJson();
  VLOG(1) << "graph passes: " << json;
  LogReport(report);
  RecentList& recent = Recent();
  std::lock_guard<std::mutex> lock(recent.mutex);
  recent.reports.push_back(std::move(json));
  if (recent.reports.size() > kKeptReports) recent.reports.pop_front();
}

}  // namespace hpu::passes
