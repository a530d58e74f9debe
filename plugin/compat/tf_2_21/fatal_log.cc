#include "plugin/compat/fatal_log.h"

#include "absl/log/log.h"

namespace hpu::compat {

void LogFatal(const char* file, int line, absl::string_view text) { LOG(FATAL).AtLocation(file, line) << text; }

}  // namespace hpu::compat
