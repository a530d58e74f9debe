// UploadQueue: a thread that uploads recipes to a remote storage, one after the other.
#ifndef HPU_PLUGIN_RECIPES_UPLOAD_QUEUE_H_
#define HPU_PLUGIN_RECIPES_UPLOAD_QUEUE_H_

#include <deque>
#include <functional>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace hpu::store {

// Apart from the thread that writes local entries: a slow storage must not delay these, as other processes wait for
// them. Thread safe; never destroyed, because its thread never ends.
class UploadQueue {
 public:
  using Upload = std::function<void()>;

  void Add(Upload upload) ABSL_LOCKS_EXCLUDED(mutex_);

  // Waits until all uploads are done, until `deadline` at most. Drops uploads that have not begun by then; returns the
  // number of unfinished uploads, the current one included. Returns at once in a forked child, which has no thread.
  size_t Flush(absl::Time deadline) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);  // the thread's

  absl::Mutex mutex_;
  std::deque<Upload> uploads_ ABSL_GUARDED_BY(mutex_);
  bool uploading_ ABSL_GUARDED_BY(mutex_) = false;
  int thread_pid_ ABSL_GUARDED_BY(mutex_) = 0;  // process of the thread; 0: none yet
};

}  // namespace hpu::store

#endif  // HPU_PLUGIN_RECIPES_UPLOAD_QUEUE_H_
