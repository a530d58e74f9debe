// Warnings about invalid settings: one per variable and process, written by the plugin or by the Python package.
#ifndef HPU_PLUGIN_BASE_FLAGS_WARNINGS_H_
#define HPU_PLUGIN_BASE_FLAGS_WARNINGS_H_

namespace hpu::flags {

// Returns true for the first call with this name; that caller writes the warning. Thread safe.
bool ClaimWarning(const char* name);

}  // namespace hpu::flags

#endif  // HPU_PLUGIN_BASE_FLAGS_WARNINGS_H_
