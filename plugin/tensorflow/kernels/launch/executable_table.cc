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

ExecutableTable::Entry& ExecutableTable::FindOrCreate(const recipes::Signature& signature) {
  // The pointer stays valid: nodes of the map never move and are never removed.
  Map::value_type* last = last_.load(std::memory_order_acquire);
  if (last != nullptr && last->first == signature) return last->second;
  {
    absl::ReaderMutexLock lock(&mutex_);
    auto it = entries_.find(signature);
    if (it != entries_.end()) {
      last_.store(&*it, std::memory_order_release);
      return it->second;
    }
  }
  absl::MutexLock lock(&mutex_);
  auto it = entries_.try_emplace(signature).first;
  size_.store(static_cast<int64_t>(entries_.size()), std::memory_order_relaxed);
  last_.store(&*it, std::memory_order_release);
  return it->second;
}

}  // namespace hpu
