// What the graph passes take from the environment.
#ifndef HPU_PLUGIN_PASSES_GRAPH_SETTINGS_H_
#define HPU_PLUGIN_PASSES_GRAPH_SETTINGS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace tensorflow {
struct SessionOptions;
}  // namespace tensorflow

namespace hpu::passes {

// Which ops clusters may hold. A function with jit_compile=True is a cluster whatever it says.
enum class Clustering {
  kOff,
  kScopes,  // those under tf.xla.experimental.jit_scope(True)
  kLite,    // those that XLA fuses (fusible_ops.h)
  kOn,
};

struct Settings {
  Clustering clustering = Clustering::kOn;
  std::string clustering_source;  // what chose it, for people; empty for the default
  bool cluster_variables = true;
  std::vector<std::string> dont_cluster;  // names of nodes, whole or after the last scope
  int64_t min_cluster_size = 1;
  int64_t max_cluster_size = 0;       // 0: no bound
  std::string max_cluster_size_name;  // the setting that bounds it
  int64_t cluster_fuel = -1;          // clusters that this process may make in all; -1: no bound
  int64_t dump_level = 0;             // 0 none, 1 the result, 2 every phase and pass
  std::string dump_directory;         // empty: none
  std::string dump_prefix;            // of file names
  std::string graph_def_directory;    // of pairs before and after; empty: none
  bool auto_mixed_precision = false;  // asked for by the session, not by the environment

  // Reads the settings as they are now. Thread safe as far as getenv is.
  static Settings FromEnvironment();

  // The same with what the session asks for: automatic mixed precision, and a hint (tf.config.optimizer.set_jit,
  // global_jit_level) that counts where HPU_CLUSTERING is not set. session may be null.
  static Settings FromEnvironment(const tensorflow::SessionOptions* session);
};

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_GRAPH_SETTINGS_H_
