// Locks of modules between processes, as files of a folder (switch LOCKS).
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_MODULE_LOCK_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_MODULE_LOCK_H_

#include <cstdint>
#include <memory>
#include <string>

namespace hpu::synapse_double {

// Holds a module for this process. The operating system releases the module when the process ends.
class ModuleLock {
 public:
  // Returns null and names the holder in `holder` if another process holds the module. Always succeeds without a
  // folder.
  static std::unique_ptr<ModuleLock> Try(uint32_t module, std::string* holder);
  ~ModuleLock();

  // Closes the file in a forked child. Otherwise the child would hold the module after the parent's end.
  void CloseInChild();

 private:
  explicit ModuleLock(int file) : file_(file) {}

  int file_;  // -1: no folder
};

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_MODULE_LOCK_H_
