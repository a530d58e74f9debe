// Events as a trace file of Chrome's (chrome://tracing, ui.perfetto.dev).
#ifndef HPU_PLUGIN_BASE_TRACE_CHROME_H_
#define HPU_PLUGIN_BASE_TRACE_CHROME_H_

#include <string>

#include "plugin/base/trace/trace.h"

namespace hpu::trace {

// A JSON object with "traceEvents": one process, the device; a thread for each lane that has events. Times are in
// microseconds since 1970.
std::string ChromeTrace(const Session::Recorded& recorded);

}  // namespace hpu::trace

#endif  // HPU_PLUGIN_BASE_TRACE_CHROME_H_
