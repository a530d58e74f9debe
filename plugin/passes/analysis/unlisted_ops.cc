#include "plugin/passes/analysis/unlisted_ops.h"

#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "tensorflow/core/platform/logging.h"

namespace hpu::passes {
namespace {

struct UnlistedOps {
  absl::Mutex mutex;
  std::string list ABSL_GUARDED_BY(mutex);
  absl::flat_hash_set<std::string> seen ABSL_GUARDED_BY(mutex);
  std::vector<std::string> unlogged ABSL_GUARDED_BY(mutex);
};

UnlistedOps& Collected() {
  static auto* ops = new UnlistedOps;
  return *ops;
}

}  // namespace

void AddUnlistedOp(absl::string_view list, const std::string& op) {
  UnlistedOps& ops = Collected();
  absl::MutexLock lock(&ops.mutex);
  if (!ops.seen.insert(op).second) return;
  ops.list = std::string(list);
  ops.unlogged.push_back(op);
}

void LogUnlistedOps() {
  UnlistedOps& ops = Collected();
  absl::MutexLock lock(&ops.mutex);
  const std::vector<std::string> unlogged = std::exchange(ops.unlogged, {});
  if (unlogged.empty()) return;
  LOG(WARNING) << "HPU_OP_LIST=" << ops.list
               << " does not cover ops that run on the HPU: " << absl::StrJoin(unlogged, ", ")
               << ". Set HPU_OP_LIST_UNKNOWN=cpu to place such ops on the CPU, or HPU_OP_LIST_UNKNOWN=allow to omit "
                  "this warning.";
}

}  // namespace hpu::passes
