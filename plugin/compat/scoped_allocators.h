// TensorFlow's scoped allocators, which Device::GetScopedAllocatorMgr requires of a device.
#ifndef HPU_PLUGIN_COMPAT_SCOPED_ALLOCATORS_H_
#define HPU_PLUGIN_COMPAT_SCOPED_ALLOCATORS_H_

// The plugin uses these members of ScopedAllocatorMgr: its constructor, and GetContainer(step)->GetInstance(scope).
#include "tensorflow/core/common_runtime/scoped_allocator_mgr.h"

#endif  // HPU_PLUGIN_COMPAT_SCOPED_ALLOCATORS_H_
