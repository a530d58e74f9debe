// Log files: creation and appending.
#ifndef HPU_PLUGIN_BASE_LOG_FILES_H_
#define HPU_PLUGIN_BASE_LOG_FILES_H_

#include <string>

namespace hpu::log {

// Appends a line to <module>_<pid>.log in HABANA_LOGS (default ~/.habana_logs). The first write creates the directory
// and the file. If the file cannot be opened, one warning appears on standard error, and the lines are lost. A line is
// lost silently if its write fails. Does nothing after StopAppending. Thread safe.
void AppendToFile(const std::string& module, const std::string& line);

void StopAppending();

}  // namespace hpu::log

#endif  // HPU_PLUGIN_BASE_LOG_FILES_H_
