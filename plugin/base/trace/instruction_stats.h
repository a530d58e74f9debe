// Stats of an instruction's trace events, under the names that XLA's own profiles use.
#ifndef HPU_PLUGIN_BASE_TRACE_INSTRUCTION_STATS_H_
#define HPU_PLUGIN_BASE_TRACE_INSTRUCTION_STATS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "plugin/base/trace/trace.h"

namespace hpu::trace {

// Writes the "file:line" where the user created `op` to `line` (`size` bytes, null-terminated; longer text is cut).
// Returns 0 if the line is unknown.
using SourceLineFinder = int32_t (*)(const char* op, char* line, size_t size);

// Sets the process's finder; null for none. Thread safe.
void SetSourceLineFinder(SourceLineFinder finder);

// hlo_op, hlo_category, hlo_module; tf_op ("name:type") if the op is known; source if the finder knows the op's line
// (xla/…/xplane_schema.h). Calls the finder.
std::vector<std::pair<const char*, std::string>> StatsOf(const Instruction& instruction);

}  // namespace hpu::trace

#endif  // HPU_PLUGIN_BASE_TRACE_INSTRUCTION_STATS_H_
