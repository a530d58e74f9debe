// Detection of forks of a process that holds the device.
#ifndef HPU_PLUGIN_TENSORFLOW_DEVICE_FORK_GUARD_H_
#define HPU_PLUGIN_TENSORFLOW_DEVICE_FORK_GUARD_H_

#include "absl/status/status.h"

namespace hpu {

// Call once, when the device has been acquired. Children forked after this call cannot use the device.
void WatchForks();

// True in a child forked after WatchForks(). The device's threads do not exist in the child, and a lock that a thread
// held at the fork is never released there. The child must therefore use neither the device nor its locks. Async-signal
// safe.
bool IsForkedChild();

// The Aborted error of a call in a forked child, with the remedy.
absl::Status ForkedChildError();

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_DEVICE_FORK_GUARD_H_
