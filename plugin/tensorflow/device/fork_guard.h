// Fork guard: detection of child processes that were forked while the parent held the device.
#ifndef HPU_PLUGIN_TENSORFLOW_DEVICE_FORK_GUARD_H_
#define HPU_PLUGIN_TENSORFLOW_DEVICE_FORK_GUARD_H_

#include "absl/status/status.h"

namespace hpu {

// Call once, when the device has been acquired. Children forked after this call cannot use the device.
void WatchForks();

// True in a child forked after WatchForks(). The device's threads do not exist in the child. A lock that such a thread
// held at the fork is never released in the child. The child must therefore use neither the device nor the device's
// locks. Async-signal safe.
bool IsForkedChild();

// ABORTED error for a call in a forked child. The text names the remedy.
absl::Status ForkedChildError();

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_DEVICE_FORK_GUARD_H_
