#include "plugin/passes/reporting/report.h"

#include <atomic>
#include <deque>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/base/json/json.h"
#include "plugin/base/log/log.h"
#include "tensorflow/core/platform/logging.h"

namespace hpu::passes {
namespace {

constexpr size_t kKeptReports = 64;
constexpr size_t kKeptBytes = 256 << 20;  // for reports with op records; a graph of 5,000 ops takes 1 MB

struct Kept {
  std::mutex mutex;
  std::deque<std::string> recent;
  std::vector<std::string> all;  // while ops are recorded
  size_t all_bytes = 0;
  std::vector<Crossing> crossings;
  int64_t dropped = 0;
  std::atomic<bool> collects{false};
  std::atomic<int64_t> records{0};
};

Kept& Reports() {
  static auto* kept = new Kept();
  return *kept;
}

std::string OpRecordsJson(const Report& report) {
  const std::string ops = JsonList(report.ops, [](std::string* out, const OpRecord& o) {
    absl::StrAppend(out, "{\"node\":", JsonQuote(o.node), ",\"op\":", JsonQuote(o.op),
                    ",\"device\":", JsonQuote(o.device), ",\"cluster\":", JsonQuote(o.cluster),
                    ",\"dtypes\":", JsonStrings(o.dtypes), ",\"rule\":", JsonQuote(o.rule),
                    ",\"reason\":", JsonQuote(o.reason), ",\"inputs\":[", absl::StrJoin(o.inputs, ","), "]}");
  });
  const std::string gaps = JsonList(report.gaps, [](std::string* out, const Gap& c) {
    absl::StrAppend(out, "{\"first\":", JsonQuote(c.first), ",\"second\":", JsonQuote(c.second),
                    ",\"rule\":", JsonQuote(c.rule), ",\"reason\":", JsonQuote(c.reason),
                    ",\"through\":", JsonStrings(c.through), "}");
  });
  return absl::StrCat(",\"record\":", report.record, ",\"ops\":", ops, ",\"gaps\":", gaps);
}

// Logs one line for the graph and, at lower levels, one for each cluster and each op outside.
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

std::string Report::ToJson(bool with_records) const {
  const std::string refused = JsonList(refusals, [](std::string* out, const Refusal& r) {
    absl::StrAppend(out, "{\"node\":", JsonQuote(r.node), ",\"op\":", JsonQuote(r.op), ",\"rule\":", JsonQuote(r.rule),
                    ",\"reason\":", JsonQuote(r.reason), "}");
  });
  const std::string rewritten = JsonList(rewrites, [](std::string* out, const Rewrite& r) {
    absl::StrAppend(out, "{\"node\":", JsonQuote(r.node), ",\"op\":", JsonQuote(r.op), ",\"pass\":", JsonQuote(r.pass),
                    ",\"what\":", JsonQuote(r.what), "}");
  });
  const std::string made = JsonList(clusters, [](std::string* out, const Cluster& c) {
    absl::StrAppend(out, "{\"name\":", JsonQuote(c.name), ",\"device\":", JsonQuote(c.device),
                    ",\"must_compile\":", c.must_compile ? "true" : "false", ",\"ops\":", c.ops,
                    ",\"arguments\":", c.arguments, ",\"constants\":", c.constants, ",\"resources\":", c.resources,
                    ",\"results\":", c.results, "}");
  });
  const std::string cut = JsonList(cuts, [](std::string* out, const Cut& c) {
    absl::StrAppend(out, "{\"cluster\":", JsonQuote(c.cluster), ",\"rule\":", JsonQuote(c.rule),
                    ",\"reason\":", JsonQuote(c.reason), "}");
  });
  const std::string timed = JsonList(times, [](std::string* out, const PassTime& t) {
    absl::StrAppend(out, "{\"pass\":", JsonQuote(t.pass), ",\"seconds\":", t.seconds, "}");
  });
  return absl::StrCat("{\"graph\":", JsonQuote(graph), ",\"function\":", JsonQuote(function), ",\"nodes\":", nodes,
                      ",\"hpu_nodes\":", hpu_nodes, ",\"refusals\":", refused, ",\"rewrites\":", rewritten,
                      ",\"clusters\":", made, ",\"cuts\":", cut, ",\"times\":", timed,
                      with_records && !ops.empty() ? OpRecordsJson(*this) : "", "}");
}

std::string RecentReports() {
  Kept& kept = Reports();
  std::lock_guard<std::mutex> lock(kept.mutex);
  return absl::StrCat("[", absl::StrJoin(kept.recent, ","), "]");
}

void KeepReport(const Report& report) {
  Kept& kept = Reports();
  std::string light = report.ToJson(/*with_records=*/false);
  VLOG(1) << "graph passes: " << light;
  LogReport(report);
  std::string full = CollectsOpRecords() ? report.ToJson() : "";
  std::lock_guard<std::mutex> lock(kept.mutex);
  kept.recent.push_back(std::move(light));
  if (kept.recent.size() > kKeptReports) kept.recent.pop_front();
  if (full.empty()) return;
  if (kept.all_bytes + full.size() > kKeptBytes) {
    ++kept.dropped;
  } else {
    kept.all_bytes += full.size();
    kept.all.push_back(std::move(full));
  }
}

void CollectOpRecords(bool collect) {
  Kept& kept = Reports();
  std::lock_guard<std::mutex> lock(kept.mutex);
  kept.collects = collect;
  if (!collect) return;
  kept.all.clear();
  kept.crossings.clear();
  kept.all_bytes = 0;
  kept.dropped = 0;
}

bool CollectsOpRecords() { return Reports().collects.load(std::memory_order_relaxed); }

int64_t NextRecord() { return ++Reports().records; }

std::string OpReports() {
  Kept& kept = Reports();
  std::lock_guard<std::mutex> lock(kept.mutex);
  const std::string crossings = JsonList(kept.crossings, [](std::string* out, const Crossing& c) {
    absl::StrAppend(out, "{\"record\":", c.record, ",\"key\":", JsonQuote(c.key), ",\"from\":", JsonQuote(c.from),
                    ",\"to\":", JsonStrings(c.to), "}");
  });
  return absl::StrCat("\"graphs\":[", absl::StrJoin(kept.all, ","), "],\"dropped\":", kept.dropped,
                      ",\"crossings\":", crossings);
}

void KeepCrossing(const Crossing& crossing) {
  Kept& kept = Reports();
  std::lock_guard<std::mutex> lock(kept.mutex);
  kept.crossings.push_back(crossing);
}

}  // namespace hpu::passes
