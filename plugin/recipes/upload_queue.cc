#include "plugin/recipes/upload_queue.h"

#include <unistd.h>

#include <thread>
#include <utility>

namespace hpu::recipes {

void UploadQueue::Add(Upload upload) {
  absl::MutexLock lock(&mutex_);
  uploads_.push_back(std::move(upload));
  if (thread_pid_ == getpid()) return;
  thread_pid_ = getpid();
  std::thread([this] { Run(); }).detach();
}

void UploadQueue::Run() {
  auto pending = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !uploads_.empty(); };
  while (true) {
    Upload upload;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(&pending));
      upload = std::move(uploads_.front());
      uploads_.pop_front();
      uploading_ = true;
    }
    upload();
    upload = nullptr;
    absl::MutexLock lock(&mutex_);
    uploading_ = false;
  }
}

size_t UploadQueue::Flush(absl::Time deadline) {
  auto idle = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return uploads_.empty() && !uploading_; };
  absl::MutexLock lock(&mutex_);
  if (thread_pid_ != getpid() || mutex_.AwaitWithDeadline(absl::Condition(&idle), deadline)) return 0;
  const size_t unfinished = uploads_.size() + (uploading_ ? 1 : 0);
  uploads_.clear();
  return unfinished;
}

}  // namespace hpu::recipes
