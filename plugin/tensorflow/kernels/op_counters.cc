#include "plugin/tensorflow/kernels/op_counters.h"

#include "absl/algorithm/container.h"
#include "plugin/passes/graph/graph_util.h"

namespace hpu {
namespace {

using Counts = std::map<std::pair<int64_t, std::string>, OpCounters::Count>;

void AddCounts(const Counts& counts, google::protobuf::RepeatedPtrField<report::v1::CopyCount>* list) {
  for (const auto& [key, count] : counts) {
    report::v1::CopyCount* entry = list->Add();
    entry->set_record(key.first);
    entry->set_name(key.second);
    entry->set_times(count.times);
    entry->set_bytes(count.bytes);
  }
}

}  // namespace

int64_t RecordOf(const tensorflow::NodeDef& node) {
  const auto found = node.attr().find(passes::kRecordAttr);
  return found == node.attr().end() ? 0 : found->second.i();
}

OpCounters& OpCounters::Get() {
  static auto* counters = new OpCounters;
  return *counters;
}

void OpCounters::Collect(bool collect) {
  absl::MutexLock lock(&mutex_);
  if (collect) {
    cpu_runs_.clear();
    copies_.clear();
    failures_.clear();
  }
  collects_ = collect;
}

void OpCounters::Record(Counts* counts, int64_t record, const std::string& name, int64_t bytes) {
  absl::MutexLock lock(&mutex_);
  Count& count = (*counts)[{record, name}];
  ++count.times;
  count.bytes += bytes;
}

void OpCounters::RecordFailure(int64_t record, const std::string& cluster, Rule rule,
                               const std::vector<std::string>& nodes, absl::string_view reason) {
  absl::MutexLock lock(&mutex_);
  const bool known = absl::c_any_of(failures_, [&](const report::v1::ClusterFailure& other) {
    return other.record() == record && other.cluster() == cluster && other.rule() == NameOf(rule);
  });
  if (known) return;
  report::v1::ClusterFailure& failure = failures_.emplace_back();
  failure.set_record(record);
  failure.set_cluster(cluster);
  failure.set_rule(std::string(NameOf(rule)));
  *failure.mutable_nodes() = {nodes.begin(), nodes.end()};
  failure.set_reason(std::string(reason));
}

void OpCounters::AddTo(report::v1::OpRecords* records) const {
  absl::MutexLock lock(&mutex_);
  AddCounts(cpu_runs_, records->mutable_cpu_runs());
  AddCounts(copies_, records->mutable_copies());
  for (const report::v1::ClusterFailure& failure : failures_) *records->add_failures() = failure;
}

}  // namespace hpu
