#include "plugin/passes/reporting/report.h"

#include <atomic>
#include <deque>
#include <mutex>
#include <string>
#include <utility>

#include "plugin/base/log/log.h"
#include "plugin/base/proto_text.h"
#include "tensorflow/core/platform/logging.h"

namespace hpu::passes {
namespace {

constexpr size_t kKeptReports = 64;
constexpr size_t kKeptBytes = 256 << 20;  // limit on op records; a graph of 5,000 ops needs 1 MB

struct Kept {
  std::mutex mutex;
  std::deque<Report> recent;
  OpRecords records;  // empty unless ops are recorded
  size_t record_bytes = 0;
  std::atomic<bool> collects{false};
  std::atomic<int64_t> numbers{0};
};

Kept& Reports() {
  static auto* kept = new Kept();
  return *kept;
}

// Logs a line for the graph, at level debug a line for each cluster, and at level trace a line for each refusal.
void LogReport(const Report& report) {
  HPU_LOG(kPasses, kInfo) << report.graph() << ": " << report.nodes() << " nodes, " << report.hpu_nodes()
                          << " on the HPU, " << report.clusters_size() << " clusters";
  if (!log::IsOn(log::Module::kPasses, log::Level::kDebug)) return;
  for (const report::v1::Cluster& cluster : report.clusters()) {
    HPU_LOG(kPasses, kDebug) << cluster.name() << ": " << cluster.ops() << " ops, " << cluster.arguments()
                             << " arguments, " << cluster.results() << " results";
  }
  for (const Refusal& refusal : report.refusals()) {
    HPU_LOG(kPasses, kTrace) << refusal.node() << " (" << refusal.op() << ") stays outside clusters by rule "
                             << refusal.rule() << ": " << refusal.reason();
  }
}

}  // namespace

void AddRefusal(Report* report, std::string_view node, std::string_view op, Rule rule, std::string_view reason) {
  Refusal* refusal = report->add_refusals();
  refusal->set_node(std::string(node));
  refusal->set_op(std::string(op));
  refusal->set_rule(std::string(NameOf(rule)));
  refusal->set_reason(std::string(reason));
}

void AddRewrite(Report* report, std::string_view node, std::string_view op, std::string_view pass,
                std::string_view what) {
  report::v1::Rewrite* rewrite = report->add_rewrites();
  rewrite->set_node(std::string(node));
  rewrite->set_op(std::string(op));
  rewrite->set_pass_name(std::string(pass));
  rewrite->set_what(std::string(what));
}

report::v1::GraphReports RecentReports() {
  Kept& kept = Reports();
  report::v1::GraphReports reports;
  std::lock_guard<std::mutex> lock(kept.mutex);
  for (const Report& report : kept.recent) *reports.add_reports() = report;
  return reports;
}

void KeepReport(const Report& report) {
  Kept& kept = Reports();
  Report light = report;
  light.clear_record();
  light.clear_ops();
  light.clear_splits();
  VLOG(1) << "graph passes: " << ProtoText(light);
  LogReport(report);
  std::lock_guard<std::mutex> lock(kept.mutex);
  kept.recent.push_back(std::move(light));
  if (kept.recent.size() > kKeptReports) kept.recent.pop_front();
  if (!kept.collects) return;
  const size_t bytes = report.ByteSizeLong();
  if (kept.record_bytes + bytes > kKeptBytes) {
    kept.records.set_dropped(kept.records.dropped() + 1);
  } else {
    kept.record_bytes += bytes;
    *kept.records.add_graphs() = report;
  }
}

void CollectOpRecords(bool collect) {
  Kept& kept = Reports();
  std::lock_guard<std::mutex> lock(kept.mutex);
  kept.collects = collect;
  if (!collect) return;
  kept.records.Clear();
  kept.record_bytes = 0;
}

bool CollectsOpRecords() { return Reports().collects.load(std::memory_order_relaxed); }

int64_t NextRecord() { return ++Reports().numbers; }

void AddOpRecords(OpRecords* records) {
  Kept& kept = Reports();
  std::lock_guard<std::mutex> lock(kept.mutex);
  records->MergeFrom(kept.records);
}

void KeepTransfer(HostDeviceTransfer transfer) {
  Kept& kept = Reports();
  std::lock_guard<std::mutex> lock(kept.mutex);
  if (kept.collects) *kept.records.add_transfers() = std::move(transfer);
}

}  // namespace hpu::passes
