#include "plugin/tensorflow/kernels/launch/executable_table.h"

#include <utility>

namespace hpu {

absl::Status ExecutableTable::Entry::failure() const {
  absl::MutexLock lock(&mutex_);
  return status_;
}

absl::Status ExecutableTable::Entry::Compile(absl::FunctionRef<absl::StatusOr<std::shared_ptr<Executable>>()> compile) {
  absl::MutexLock lock(&mutex_);
  if (executable_ != nullptr || !status_.ok()) return status_;
  absl::StatusOr<std::shared_ptr<Executable>> compiled = compile();
  if (absl::IsCancelled(compiled.status())) return compiled.status();
  if (!compiled.ok()) {
    status_ = compiled.status();
    failed_.store(true, std::memory_order_release);
    return status_;
  }
  executable_ = *std::move(compiled);
  ready_.store(executable_.get(), std::memory_order_release);
  return absl::OkStatus();
}

std::shared_ptr<ExecutableTable::Entry> ExecutableTable::FindOrCreate(const recipes::Signature& signature) {
  {
    absl::ReaderMutexLock lock(&mutex_);
    if (std::shared_ptr<Entry> entry = entries_.Find(signature)) return entry;
  }
  absl::MutexLock lock(&mutex_);
  if (std::shared_ptr<Entry> entry = entries_.Find(signature)) return entry;
  created_.fetch_add(1, std::memory_order_relaxed);
  return entries_.Add(signature, std::make_shared<Entry>());
}

}  // namespace hpu
