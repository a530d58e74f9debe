// Tracing of a stream's copies and launches.
#ifndef HPU_PLUGIN_TENSORFLOW_DEVICE_TRACED_STREAM_H_
#define HPU_PLUGIN_TENSORFLOW_DEVICE_TRACED_STREAM_H_

#include <memory>

#include "plugin/hal/stream.h"

namespace hpu {

// Wraps `stream`. While a trace is recorded, the wrapper queues a timing callback before and after each copy and
// launch. If trace::HasNvtx(), the calls that queue copies and launches are ranges. Without both, each call costs two
// more loads.
std::unique_ptr<hal::Stream> TraceStream(std::unique_ptr<hal::Stream> stream);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_DEVICE_TRACED_STREAM_H_
