// Report of a run of the passes over a graph: clusters, refusals and rewrites.
#ifndef HPU_PLUGIN_PASSES_REPORTING_REPORT_H_
#define HPU_PLUGIN_PASSES_REPORTING_REPORT_H_

#include <cstdint>
#include <string_view>

#include "hpu/report/v1/report.pb.h"
#include "plugin/base/rules/rules.h"

namespace hpu::passes {

// Messages of proto/hpu/report/v1/report.proto.
using report::v1::ClusterSlice;
using report::v1::ClusterSplit;
using report::v1::HostDeviceTransfer;
using report::v1::OpRecord;
using report::v1::OpRecords;
using report::v1::Refusal;
using Report = report::v1::GraphReport;

void AddRefusal(Report* report, std::string_view node, std::string_view op, Rule rule, std::string_view reason);
void AddRewrite(Report* report, std::string_view node, std::string_view op, std::string_view pass,
                std::string_view what);

// The reports of the latest graphs in this process, without op records. Thread safe.
report::v1::GraphReports RecentReports();
void KeepReport(const Report& report);

// Enables or disables op records: passes record every op, and KeepReport() also keeps the records for AddOpRecords().
// Costs memory and time; initially disabled. Enabling discards earlier records. Thread safe.
void CollectOpRecords(bool collect);
bool CollectsOpRecords();

// A unique number for a report. Thread safe.
int64_t NextRecord();

// Adds the graphs and transfers recorded since CollectOpRecords(true) to `records`. Thread safe.
void AddOpRecords(OpRecords* records);
void KeepTransfer(HostDeviceTransfer transfer);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_REPORTING_REPORT_H_
