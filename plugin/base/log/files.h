// The files of the log.
#ifndef HPU_PLUGIN_BASE_LOG_FILES_H_
#define HPU_PLUGIN_BASE_LOG_FILES_H_

#include <string>

namespace hpu::log {

// Appends a line to <module>_<pid>.log in HABANA_LOGS (default ~/.habana_logs), both made when there is something to
// write. A directory that cannot be written to is warned about once; its lines are lost. Thread safe.
// Nothing after StopAppending.
void AppendToFile(const std::string& module, const std::string& line);

void StopAppending();

}  // namespace hpu::log

#endif  // HPU_PLUGIN_BASE_LOG_FILES_H_
