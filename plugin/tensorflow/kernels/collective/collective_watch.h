// CollectiveWatch: says which collective operations wait too long for other workers.
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

// A key of a collective op: an input of the second form of these ops, an attribute of the first.
int KeyOf(tensorflow::OpKernelContext& context, const char* name);

// A rank of a group.
struct GroupMember {
  std::string task;
  bool is_local = false;  // this process's
};

// Warns once of each operation that takes longer than HPU_COLLECTIVE_STALL_S. Its thread starts with the first
// operation and sleeps while there is none. Thread safe; never destroyed.
class CollectiveWatch {
 public:
  static CollectiveWatch& Get();

  // An operation that has begun and not ended.
  class Entry {
   public:
    ~Entry();

   private:
    friend class CollectiveWatch;
    explicit Entry(int64_t id) : id_(id) {}
    const int64_t id_;
  };

  // What a kernel waits for. `data`: what it gives the others, or null. `members`: the group, which lives as long as
  // the process; null where TensorFlow knows it. After `timeout_s` seconds, unless that is 0, `give_up` runs, on a
  // thread of the watch, which holds its lock.
  struct Wait {
    const tensorflow::Tensor* data = nullptr;
    const std::vector<GroupMember>* members = nullptr;
    float timeout_s = 0;
    std::function<void()> give_up;
  };

  // The kernel in `context` waits until the entry goes. Null if there is nothing to watch: no timeout, and
  // HPU_COLLECTIVE_STALL_S is 0.
  std::unique_ptr<Entry> Begin(tensorflow::OpKernelContext& context, Wait wait);

 private:
  struct Waiting {
    std::string operation;
    int group_key = 0;
    const std::vector<GroupMember>* members = nullptr;
    tensorflow::core::RefCountPtr<tensorflow::CollectiveExecutor> executor;
    absl::Time start;
    absl::Duration limit;
    bool said = false;
    absl::Duration timeout = absl::InfiniteDuration();
    std::function<void()> give_up;  // null once it has run
  };

  CollectiveWatch() = default;
  void End(int64_t id);
  void Loop();
  // Says for whom.
  static void Say(Waiting waiting);

  absl::Mutex mutex_;
  std::map<int64_t, Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  int64_t next_id_ ABSL_GUARDED_BY(mutex_) = 0;
  tensorflow::Thread* thread_ ABSL_GUARDED_BY(mutex_) = nullptr;  // as long as the process
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_COLLECTIVE_COLLECTIVE_WATCH_H_
