#include "plugin/compiler/background/compile_queue.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <thread>
#include <utility>

#include "plugin/compiler/background/compile_progress.h"

namespace hpu {

CompileQueue& CompileQueue::Get() {
  static auto* queue = new CompileQueue;
  return *queue;
}

CompileQueue::CompileQueue() : process_(getpid()) {}

bool CompileQueue::IsForkedChild() const { return getpid() != process_; }

bool CompileQueue::Schedule(const void* owner, Work work) {
  if (IsForkedChild()) return false;
  absl::MutexLock lock(&mutex_);
  if (stopped_ || items_.size() >= kCapacity) return false;
  items_.push_back({owner, std::move(work)});
  ShowWaiting();
  if (!std::exchange(has_thread_, true)) std::thread([this] { Run(); }).detach();
  return true;
}

void CompileQueue::ShowWaiting() const { CompileProgress::Get().SetWaiting(static_cast<int64_t>(items_.size())); }

void CompileQueue::Run() {
  static_cast<void>(!nice(kNice));  // affects this thread only: on Linux, each thread has its own nice value
  while (true) {
    Item item;
    {
      absl::MutexLock lock(&mutex_);
      running_ = nullptr;
      if (items_.empty()) {
        has_thread_ = false;
        return;
      }
      item = std::move(items_.front());
      items_.pop_front();
      ShowWaiting();
      running_ = item.owner;
      cancelled_.store(false, std::memory_order_relaxed);
    }
    item.work(cancelled_);
  }
}

void CompileQueue::Cancel(const void* owner) {
  if (IsForkedChild()) return;
  std::deque<Item> dropped;  // destroyed without the lock
  absl::MutexLock lock(&mutex_);
  const auto kept =
      std::stable_partition(items_.begin(), items_.end(), [owner](const Item& item) { return item.owner != owner; });
  dropped.assign(std::make_move_iterator(kept), std::make_move_iterator(items_.end()));
  items_.erase(kept, items_.end());
  ShowWaiting();
  if (running_ == owner) cancelled_.store(true, std::memory_order_relaxed);
}

void CompileQueue::Stop() {
  if (IsForkedChild()) return;
  std::deque<Item> dropped;  // destroyed without the lock
  absl::MutexLock lock(&mutex_);
  stopped_ = true;
  dropped.swap(items_);
  ShowWaiting();
  cancelled_.store(true, std::memory_order_relaxed);
  auto idle = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !has_thread_; };
  mutex_.Await(absl::Condition(&idle));
}

}  // namespace hpu
