#include "plugin/passes/graph/settings.h"

#include <utility>

#include "plugin/base/flags/flags.h"
#include "plugin/base/flags/parse.h"
#include "tensorflow/core/protobuf/config.pb.h"
#include "tensorflow/core/protobuf/rewriter_config.pb.h"
#include "tensorflow/core/public/session_options.h"

namespace hpu::passes {
namespace {

using tensorflow::OptimizerOptions;

constexpr char kClusteringFlag[] = "HPU_CLUSTERING";

// Uses the smallest limit that is set.
void ReadMaximum(Settings* settings) {
  const std::pair<const char*, int64_t> bounds[] = {{"HPU_MAX_CLUSTER_SIZE", flags::MaxClusterSize()},
                                                    {"TF_MAX_CLUSTER_SIZE", flags::TfMaxClusterSize()},
                                                    {"TF_PRELIMINARY_CLUSTER_SIZE", flags::TfPreliminaryClusterSize()}};
  for (const auto& [name, size] : bounds) {
    if (size <= 0 || (settings->max_cluster_size > 0 && settings->max_cluster_size <= size)) continue;
    settings->max_cluster_size = size;
    settings->max_cluster_size_name = name;
  }
}

}  // namespace

Settings Settings::FromEnvironment() {
  Settings settings;
  const flags::ClusteringSetting clustering = flags::Clustering();
  if (clustering == flags::ClusteringSetting::kOff) settings.clustering = Clustering::kOff;
  if (clustering == flags::ClusteringSetting::kLite) settings.clustering = Clustering::kLite;
  if (flags::IsSet(kClusteringFlag))
    settings.clustering_source = kClusteringFlag + ("=" + std::string(flags::NameOf(clustering)));
  settings.cluster_variables = flags::TfClusterVariables();
  settings.dont_cluster = flags::TfDontCluster();
  settings.min_cluster_size = flags::MinClusterSize();
  ReadMaximum(&settings);
  settings.cluster_fuel = flags::ClusterFuel();
  settings.dump_directory = flags::TfDumpGraphPrefix();
  settings.dump_level = flags::HbnTfGraphDump();
  settings.dump_prefix = flags::HbnTfGraphPrefix();
  settings.graph_def_directory = flags::TfGrapplerGraphDefPath();
  return settings;
}

Settings Settings::FromEnvironment(const tensorflow::SessionOptions* session) {
  Settings settings = FromEnvironment();
  if (session == nullptr) return settings;
  // TensorFlow's own auto_mixed_precision converts only GPU nodes.
  settings.auto_mixed_precision =
      session->config.graph_options().rewrite_options().auto_mixed_precision() == tensorflow::RewriterConfig::ON;
  if (flags::IsSet(kClusteringFlag)) return settings;
  const auto level = session->config.graph_options().optimizer_options().global_jit_level();
  if (level == OptimizerOptions::OFF) {
    settings.clustering = Clustering::kScopes;
    settings.clustering_source = "set_jit(False) or global_jit_level=OFF";
  }
  return settings;
}

}  // namespace hpu::passes
