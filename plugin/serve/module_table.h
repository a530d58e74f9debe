// ModuleTable: the server's modules and who holds them.
#ifndef HPU_PLUGIN_SERVE_MODULE_TABLE_H_
#define HPU_PLUGIN_SERVE_MODULE_TABLE_H_

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/hal/backend.h"

namespace hpu::serve {

struct ModuleHolder {
  uint32_t pid = 0;  // by its own words
  std::string command;
};

// Thread safe.
class ModuleTable {
 public:
  explicit ModuleTable(int count) : modules_(count) {}

  // Claims the first free module that the options admit. If all of those are held it waits for a moment, for a client
  // that has just died; then Unavailable names the holders. InvalidArgument for modules that do not exist.
  absl::StatusOr<int> Claim(const hal::AcquireOptions& options, const ModuleHolder& holder);
  void Release(int module_id);

  int size() const { return static_cast<int>(modules_.size()); }

 private:
  struct Module {
    bool held = false;
    ModuleHolder holder;
  };

  std::mutex mutex_;
  std::condition_variable released_;
  std::vector<Module> modules_;  // guarded by mutex_
};

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVE_MODULE_TABLE_H_
