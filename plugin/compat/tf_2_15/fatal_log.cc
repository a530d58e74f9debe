#include "plugin/compat/fatal_log.h"

#include "tensorflow/core/platform/logging.h"

namespace hpu::compat {

void LogFatal(const char* file, int line, absl::string_view text) {
  tsl::internal::LogMessageFatal(file, line) << text;
  __builtin_unreachable();
}

}  // namespace hpu::compat
