// A stream whose work is traced.
#ifndef HPU_PLUGIN_TENSORFLOW_DEVICE_TRACED_STREAM_H_
#define HPU_PLUGIN_TENSORFLOW_DEVICE_TRACED_STREAM_H_

#include <memory>

#include "plugin/hal/stream.h"

namespace hpu {

// Gives `stream` with callbacks around its copies and launches while a trace is recorded; they take the times when the
// backend reaches them. Otherwise each call costs an atomic load more.
std::unique_ptr<hal::Stream> TraceStream(std::unique_ptr<hal::Stream> stream);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_DEVICE_TRACED_STREAM_H_
