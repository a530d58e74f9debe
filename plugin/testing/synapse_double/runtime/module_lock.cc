#include "plugin/testing/synapse_double/runtime/module_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "plugin/testing/synapse_double/runtime/status.h"
#include "plugin/testing/synapse_double/runtime/switches.h"

namespace hpu::synapse_double {

std::unique_ptr<ModuleLock> ModuleLock::Try(uint32_t module, std::string* holder) {
  const std::string& folder = GetSwitches().lock_folder;
  if (folder.empty()) return std::unique_ptr<ModuleLock>(new ModuleLock(-1));
  const std::string path = Text(folder, "/module-", module, ".lock");
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) {
    std::fprintf(stderr, "synapse_double: cannot open %s: %s\n", path.c_str(), std::strerror(errno));
    std::abort();
  }
  char text[32] = {};
  if (flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (pread(file, text, sizeof(text) - 1, 0) <= 0) std::strcpy(text, "?");
    *holder = Text("process ", text);
    close(file);
    return nullptr;
  }
  // For messages only.
  const std::string process = std::to_string(getpid());
  if (ftruncate(file, 0) != 0 || pwrite(file, process.data(), process.size(), 0) < 0) {
    std::fprintf(stderr, "synapse_double: cannot write %s: %s\n", path.c_str(), std::strerror(errno));
  }
  return std::unique_ptr<ModuleLock>(new ModuleLock(file));
}

ModuleLock::~ModuleLock() {
  if (file_ < 0) return;
  flock(file_, LOCK_UN);  // children may have the file open
  close(file_);
}

void ModuleLock::CloseInChild() {
  if (file_ >= 0) close(file_);
  file_ = -1;
}

}  // namespace hpu::synapse_double
