// UploadQueue: a thread that uploads recipes to remote storage, one at a time.
#ifndef HPU_PLUGIN_RECIPES_UPLOAD_QUEUE_H_
#define HPU_PLUGIN_RECIPES_UPLOAD_QUEUE_H_

#include <deque>
#include <functional>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace hpu::recipes {

// Separate from the thread that writes local entries. Other processes wait for local entries, so slow remote storage
// must not delay the writes. Thread safe; never destroyed, because the upload thread never ends.
class UploadQueue {
 public:
  using Upload = std::function<void()>;

  void Add(Upload upload) ABSL_LOCKS_EXCLUDED(mutex_);

  // Waits until all uploads are done or `deadline` has passed. Then drops uploads that have not begun. Returns the
  // number of unfinished uploads, including the current one. Returns 0 immediately if this process has no upload
  // thread, for example after fork().
  size_t Flush(absl::Time deadline) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);  // body of the thread

  absl::Mutex mutex_;
  std::deque<Upload> uploads_ ABSL_GUARDED_BY(mutex_);
  bool uploading_ ABSL_GUARDED_BY(mutex_) = false;
  int thread_pid_ ABSL_GUARDED_BY(mutex_) = 0;  // process of the thread; 0: none yet
};

}  // namespace hpu::recipes

#endif  // HPU_PLUGIN_RECIPES_UPLOAD_QUEUE_H_
