#include "plugin/passes/analysis/custom_ops.h"

#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"

namespace hpu::passes {
namespace {

struct Ops {
  absl::Mutex mutex;
  absl::flat_hash_set<std::string> names ABSL_GUARDED_BY(mutex);
};

Ops& CustomOps() {
  static auto* ops = new Ops;
  return *ops;
}

}  // namespace

void AddCustomOp(std::string op) {
  absl::MutexLock lock(&CustomOps().mutex);
  CustomOps().names.insert(std::move(op));
}

bool IsCustomOp(std::string_view op) {
  absl::ReaderMutexLock lock(&CustomOps().mutex);
  return CustomOps().names.contains(op);
}

}  // namespace hpu::passes
