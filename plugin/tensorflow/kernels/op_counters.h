// OpCounters: run-time counts for recorded graphs (plugin/passes/clustering/op_records.h).
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_OP_COUNTERS_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_OP_COUNTERS_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "hpu/report/v1/report.pb.h"
#include "plugin/base/rules/rules.h"
#include "tensorflow/core/framework/node_def.pb.h"

namespace hpu {

// The number of the report on the node's graph; 0 if the graph's ops are not recorded.
int64_t RecordOf(const tensorflow::NodeDef& node);

// Process-wide; never destroyed. Thread safe. Counts only after Collect(true); otherwise a call only reads a flag.
class OpCounters {
 public:
  static OpCounters& Get();

  // Starts or stops counting. A start resets all counts.
  void Collect(bool collect) ABSL_LOCKS_EXCLUDED(mutex_);
  bool collects() const { return collects_.load(std::memory_order_relaxed); }

  // Counts a run of a CPU kernel for an op outside clusters in the graph `record`. `bytes`: bytes that the run copied
  // between host and device.
  void AddCpuRun(int64_t record, const std::string& node, int64_t bytes) {
    if (collects()) Record(&cpu_runs_, record, node, bytes);
  }
  // Counts a tensor that the graph `record` sent or received. `key` is the node's attribute tensor_name.
  void AddCopy(int64_t record, const std::string& key, int64_t bytes) {
    if (collects()) Record(&copies_, record, key, bytes);
  }
  // Records, once for each graph, cluster and rule, that a cluster did not run as intended. Rule "compile-error": the
  // cluster was split without `nodes`; with jit_compile=True and no `nodes`, the program received the error. Rule
  // "dynamic-shapes": the cluster's rows were not padded. another rule: the cluster ran on the CPU.
  void AddFailure(int64_t record, const std::string& cluster, Rule rule, const std::vector<std::string>& nodes,
                  absl::string_view reason) {
    if (collects()) RecordFailure(record, cluster, rule, nodes, reason);
  }

  void AddTo(report::v1::OpRecords* records) const ABSL_LOCKS_EXCLUDED(mutex_);

  struct Count {
    int64_t times = 0;
    int64_t bytes = 0;
  };

 private:
  using Counts = std::map<std::pair<int64_t, std::string>, Count>;  // by record and name

  void Record(Counts* counts, int64_t record, const std::string& name, int64_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);
  void RecordFailure(int64_t record, const std::string& cluster, Rule rule, const std::vector<std::string>& nodes,
                     absl::string_view reason) ABSL_LOCKS_EXCLUDED(mutex_);

  std::atomic<bool> collects_{false};
  mutable absl::Mutex mutex_;
  Counts cpu_runs_;  // guarded by mutex_, like copies_
  Counts copies_;
  std::vector<report::v1::ClusterFailure> failures_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_OP_COUNTERS_H_
