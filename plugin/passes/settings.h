// What the graph passes take from the environment.
#ifndef HPU_PLUGIN_PASSES_SETTINGS_H_
#define HPU_PLUGIN_PASSES_SETTINGS_H_

#include <cstdint>
#include <string>

namespace hpu::passes {

struct Settings {
  bool clustering = true;
  int64_t min_cluster_size = 2;
  int64_t max_cluster_size = 0;  // 0: no bound
  int64_t cluster_fuel = -1;     // clusters that this process may make in all; -1: no bound
  int64_t dump_level = 0;        // 0 none, 1 the result, 2 after every pass
  std::string dump_directory;    // empty: none

  // Reads the settings as they are now. Thread safe as far as getenv is.
  static Settings FromEnvironment();
};

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_SETTINGS_H_
