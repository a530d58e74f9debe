#include "plugin/base/files/make_directories.h"

#include <sys/stat.h>

#include <cerrno>

namespace hpu::files {

bool MakeDirectories(const std::string& path, mode_t mode) {
  // Failures of parents are ignored: mkdir() of an existing parent may fail with any error, such as EROFS.
  for (size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
    mkdir(path.substr(0, end).c_str(), mode);
  }
  if (mkdir(path.c_str(), mode) == 0) return true;
  const int error = errno;
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return true;
  errno = error;
  return false;
}

}  // namespace hpu::files
