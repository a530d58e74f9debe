// Detection of forks of a process that holds the device.
#ifndef HPU_PLUGIN_TENSORFLOW_DEVICE_FORK_GUARD_H_
#define HPU_PLUGIN_TENSORFLOW_DEVICE_FORK_GUARD_H_

#include "absl/status/status.h"

namespace hpu {

// Call once, when the device has been acquired. Children forked after this call cannot use the device.
void WatchForks();

// True in a child forked after WatchForks(). The device's threads do not exist in the child, and they may have held its
// locks at the fork. A child must therefore touch neither the device nor its locks. Async-signal safe.
bool IsForkedChild();

// An Aborted status that says what to do. Only for a forked child.
absl::Status ForkedChildError();

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_DEVICE_FORK_GUARD_H_
