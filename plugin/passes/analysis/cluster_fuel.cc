#include "plugin/passes/analysis/cluster_fuel.h"

#include <atomic>

namespace hpu::passes {
namespace {

std::atomic<int64_t>& ClusterCount() {
  static auto* made = new std::atomic<int64_t>(0);
  return *made;
}

}  // namespace

bool HasFuel(const Settings& settings) {
  return settings.cluster_fuel < 0 || ClusterCount().load() < settings.cluster_fuel;
}

bool ConsumeFuel(const Settings& settings) {
  return settings.cluster_fuel < 0 || ClusterCount().fetch_add(1) < settings.cluster_fuel;
}

}  // namespace hpu::passes
