#include "plugin/c_api/c_api.h"
#include "plugin/c_api/c_buffer.h"
#include "plugin/passes/reporting/report.h"
#include "plugin/tensorflow/kernels/launch/launch_limit.h"
#include "plugin/tensorflow/kernels/op_counters.h"
#include "plugin/tensorflow/kernels/statistics.h"

hpu_buffer hpu_statistics(void) { return hpu::MakeBuffer(hpu::Statistics::Get().Read().SerializeAsString()); }

hpu_buffer hpu_statistics_table(void) { return hpu::MakeBuffer(hpu::Statistics::Get().ToTable()); }

void hpu_statistics_reset(void) { hpu::Statistics::Get().Reset(); }

void hpu_signal_at_launch(int64_t launches, int32_t signal) { hpu::LaunchLimit::Get().Set(launches, signal); }

void hpu_collect_op_records(int32_t collect) {
  hpu::passes::CollectOpRecords(collect != 0);
  hpu::OpCounters::Get().Collect(collect != 0);
}

hpu_buffer hpu_op_records(void) {
  hpu::report::v1::OpRecords records;
  hpu::passes::AddOpRecords(&records);
  hpu::OpCounters::Get().AddTo(&records);
  return hpu::MakeBuffer(records.SerializeAsString());
}
