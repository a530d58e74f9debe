// CollectiveWatch: warnings and timeouts of collective operations that wait too long for other workers.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_COLLECTIVE_COLLECTIVE_WATCH_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_COLLECTIVE_COLLECTIVE_WATCH_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "tensorflow/core/framework/collective.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/platform/refcount.h"

namespace hpu {

// Returns a key or the group size of a collective op: an input of V2 ops, an attribute of V1 ops.
int KeyOf(tensorflow::OpKernelContext& context, const char* name);

// A rank of a group.
struct GroupMember {
  std::string task;
  bool is_local = false;  // the rank is in this process
};

// Warns once about each operation that takes longer than HPU_COLLECTIVE_STALL_S. The watch's thread starts with the
// first operation and sleeps while no operation runs. Thread safe; never destroyed.
class CollectiveWatch {
 public:
  static CollectiveWatch& Get();

  // Registration of a running operation. The destructor ends the watch.
  class Entry {
   public:
    ~Entry();

   private:
    friend class CollectiveWatch;
    explicit Entry(int64_t id) : id_(id) {}
    const int64_t id_;
  };

  // Describes a waiting kernel. `data`: the kernel's input to the collective, or null. `members`: the group's ranks,
  // alive as long as the process; null to look the group up in TensorFlow. After `timeout_s` seconds (0: never),
  // `on_timeout` runs on the watch's thread, which holds the watch's lock.
  struct Wait {
    const tensorflow::Tensor* data = nullptr;
    const std::vector<GroupMember>* members = nullptr;
    float timeout_s = 0;
    std::function<void()> on_timeout;
  };

  // Watches the kernel in `context` until the entry is destroyed. Null if there is nothing to watch: no timeout and
  // HPU_COLLECTIVE_STALL_S=0, or no collective executor.
  std::unique_ptr<Entry> Begin(tensorflow::OpKernelContext& context, Wait wait);

 private:
  struct Waiting {
    std::string operation;
    int group_key = 0;
    const std::vector<GroupMember>* members = nullptr;
    tensorflow::core::RefCountPtr<tensorflow::CollectiveExecutor> executor;
    absl::Time start;
    absl::Duration limit;
    bool warned = false;
    absl::Duration timeout = absl::InfiniteDuration();
    std::function<void()> on_timeout;  // null after the call, and without a timeout
  };

  CollectiveWatch() = default;
  void End(int64_t id);
  void Loop();
  // Logs the warning about one operation.
  static void Warn(Waiting waiting);

  absl::Mutex mutex_;
  std::map<int64_t, Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  int64_t next_id_ ABSL_GUARDED_BY(mutex_) = 0;
  tensorflow::Thread* thread_ ABSL_GUARDED_BY(mutex_) = nullptr;  // lives as long as the process
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_COLLECTIVE_COLLECTIVE_WATCH_H_
