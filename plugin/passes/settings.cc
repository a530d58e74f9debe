#include "plugin/passes/settings.h"

#include "plugin/flags/flags.h"

namespace hpu::passes {

Settings Settings::FromEnvironment() {
  Settings settings;
  settings.clustering = flags::Clustering() != "off";
  settings.min_cluster_size = flags::MinClusterSize();
  settings.max_cluster_size = flags::MaxClusterSize();
  settings.cluster_fuel = flags::ClusterFuel();
  settings.dump_directory = flags::TfDumpGraphPrefix();
  settings.dump_level = settings.dump_directory.empty() ? 0 : flags::HbnTfGraphDump();
  return settings;
}

}  // namespace hpu::passes
