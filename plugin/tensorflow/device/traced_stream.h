// Tracing of a stream's copies and launches.
#ifndef HPU_PLUGIN_TENSORFLOW_DEVICE_TRACED_STREAM_H_
#define HPU_PLUGIN_TENSORFLOW_DEVICE_TRACED_STREAM_H_

#include <memory>

#include "plugin/hal/stream.h"

namespace hpu {

// Wraps `stream` with callbacks around its copies and launches while a trace is recorded. The callbacks take the times
// at which the backend reaches them. Without a trace, each call costs one more atomic load.
std::unique_ptr<hal::Stream> TraceStream(std::unique_ptr<hal::Stream> stream);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_DEVICE_TRACED_STREAM_H_
