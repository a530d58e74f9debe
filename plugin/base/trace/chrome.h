// Trace events in Chrome's trace format (chrome://tracing, ui.perfetto.dev).
#ifndef HPU_PLUGIN_BASE_TRACE_CHROME_H_
#define HPU_PLUGIN_BASE_TRACE_CHROME_H_

#include <string>

#include "plugin/base/trace/trace.h"

namespace hpu::trace {

// A JSON object with "traceEvents": the device is the only process, and each lane with events is a thread. Times are in
// microseconds since 1970.
std::string ChromeTrace(const Session::Recorded& recorded);

}  // namespace hpu::trace

#endif  // HPU_PLUGIN_BASE_TRACE_CHROME_H_
