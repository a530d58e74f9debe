#include "absl/strings/str_cat.h"
#include "plugin/c_api/c_api.h"
#include "plugin/c_api/c_buffer.h"
#include "plugin/passes/reporting/report.h"
#include "plugin/tensorflow/kernels/op_counters.h"
#include "plugin/tensorflow/kernels/statistics.h"

hpu_buffer hpu_statistics(void) { return hpu::MakeBuffer(hpu::Statistics::Get().ToJson()); }

hpu_buffer hpu_statistics_table(void) { return hpu::MakeBuffer(hpu::Statistics::Get().ToTable()); }

void hpu_statistics_reset(void) { hpu::Statistics::Get().Reset(); }

void hpu_collect_op_records(int32_t collect) {
  hpu::passes::CollectOpRecords(collect != 0);
  hpu::OpCounters::Get().Collect(collect != 0);
}

hpu_buffer hpu_op_records(void) {
  return hpu::MakeBuffer(absl::StrCat("{", hpu::passes::OpReports(), ",", hpu::OpCounters::Get().ToJsonMembers(), "}"));
}
