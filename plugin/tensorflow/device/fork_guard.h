// Whether this process was forked from one that held the device.
#ifndef HPU_PLUGIN_TENSORFLOW_DEVICE_FORK_GUARD_H_
#define HPU_PLUGIN_TENSORFLOW_DEVICE_FORK_GUARD_H_

#include "absl/status/status.h"

namespace hpu {

// Call once, when the device has been acquired: children forked from now on find it lost.
void WatchForks();

// True in a child forked after WatchForks(). The device's threads do not exist there, and its locks may be held by
// threads that do not exist either, so a child must touch neither. Async-signal safe.
bool IsForkedChild();

// Aborted, with what to do about it. Only for a forked child.
absl::Status ForkedChildError();

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_DEVICE_FORK_GUARD_H_
