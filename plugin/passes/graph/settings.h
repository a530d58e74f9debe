// Settings that the graph passes read from the environment.
#ifndef HPU_PLUGIN_PASSES_GRAPH_SETTINGS_H_
#define HPU_PLUGIN_PASSES_GRAPH_SETTINGS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace tensorflow {
struct SessionOptions;
}  // namespace tensorflow

namespace hpu::passes {

// Ops that clusters may hold. A function with jit_compile=True is a cluster regardless of this setting.
enum class Clustering {
  kOff,
  kScopes,  // ops under tf.xla.experimental.jit_scope(True)
  kLite,    // ops that XLA fuses (op_facts.h)
  kOn,
};

struct Settings {
  Clustering clustering = Clustering::kOn;
  std::string clustering_source;  // the setting that chose it, for messages; empty for the default
  bool cluster_variables = true;
  std::vector<std::string> dont_cluster;  // node names, either whole or after the last scope
  int64_t min_cluster_size = 1;
  int64_t max_cluster_size = 0;       // 0: unlimited
  std::string max_cluster_size_name;  // the setting that limits it
  int64_t cluster_fuel = -1;          // clusters that this process may still make in total; -1: unlimited
  int64_t dump_level = 0;             // 0: none, 1: the result, 2: every phase and pass
  std::string dump_directory;         // empty: none
  std::string dump_prefix;            // prefix of file names
  std::string graph_def_directory;    // for pairs of dumps before and after; empty: none
  bool auto_mixed_precision = false;  // requested by the session, not by the environment

  // Reads the current settings. As thread safe as getenv.
  static Settings FromEnvironment();

  // The same, combined with the session's options: automatic mixed precision, and the hint of
  // tf.config.optimizer.set_jit or global_jit_level, which applies if HPU_CLUSTERING is not set. `session` may be null.
  static Settings FromEnvironment(const tensorflow::SessionOptions* session);
};

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_GRAPH_SETTINGS_H_
