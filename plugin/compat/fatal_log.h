// LOG(FATAL) of TensorFlow's log, in files where LOG may be another library's macro.
#ifndef HPU_PLUGIN_COMPAT_FATAL_LOG_H_
#define HPU_PLUGIN_COMPAT_FATAL_LOG_H_

#include "absl/strings/string_view.h"

namespace hpu::compat {

[[noreturn]] void LogFatal(const char* file, int line, absl::string_view text);

}  // namespace hpu::compat

#endif  // HPU_PLUGIN_COMPAT_FATAL_LOG_H_
