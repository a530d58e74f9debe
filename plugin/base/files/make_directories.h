// MakeDirectories: creates a directory and its parents.
#ifndef HPU_PLUGIN_BASE_FILES_MAKE_DIRECTORIES_H_
#define HPU_PLUGIN_BASE_FILES_MAKE_DIRECTORIES_H_

#include <sys/types.h>

#include <string>

namespace hpu::files {

// Creates `path` and its missing parents, with `mode` minus the umask. Returns whether `path` is a directory
// afterwards; if not, errno says why. Thread safe, also against other processes.
bool MakeDirectories(const std::string& path, mode_t mode);

}  // namespace hpu::files

#endif  // HPU_PLUGIN_BASE_FILES_MAKE_DIRECTORIES_H_
