// Settings of the graph passes, from the environment and the session's options.
#ifndef HPU_PLUGIN_PASSES_GRAPH_SETTINGS_H_
#define HPU_PLUGIN_PASSES_GRAPH_SETTINGS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace tensorflow {
struct SessionOptions;
}  // namespace tensorflow

namespace hpu::passes {

// Ops that clusters may contain. Functions with jit_compile=True are compiled in any case.
enum class Clustering {
  kOff,
  kScopes,  // ops under tf.xla.experimental.jit_scope(True)
  kLite,    // ops that XLA fuses (op_facts.h)
  kOn,
};

struct Settings {
  Clustering clustering = Clustering::kOn;
  std::string clustering_source;  // setting that determined `clustering`, for messages; empty for the default
  bool cluster_variables = true;
  std::vector<std::string> dont_cluster;  // full node names, or node names without scopes
  int64_t min_cluster_size = 1;
  int64_t max_cluster_size = 0;       // 0: unlimited
  std::string max_cluster_size_name;  // setting that determined max_cluster_size
  int64_t cluster_fuel = -1;          // maximum number of clusters in this process; -1: unlimited
  int64_t dump_level = 0;             // 0: none, 1: the result, 2: every phase and pass
  std::string dump_directory;         // empty: no dumps
  std::string dump_prefix;            // prefix of file names
  std::string graph_def_directory;    // for dumps before and after the passes; empty: none
  bool auto_mixed_precision = false;  // requested by the session, not by the environment

  // Reads the current settings. As thread safe as getenv.
  static Settings FromEnvironment();

  // Reads the current settings and two session options: automatic mixed precision, and global_jit_level
  // (tf.config.optimizer.set_jit). global_jit_level applies only if HPU_CLUSTERING is not set. `session` may be null.
  static Settings FromEnvironment(const tensorflow::SessionOptions* session);
};

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_GRAPH_SETTINGS_H_
