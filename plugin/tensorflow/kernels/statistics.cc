#include "plugin/tensorflow/kernels/statistics.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tensorflow/core/platform/logging.h"

namespace hpu {
namespace {

std::string Seconds(int64_t microseconds) { return absl::StrCat(static_cast<double>(microseconds) * 1e-6); }

// A JSON object with the reasons that occurred.
std::string ReasonsJson(const ClusterCounters& cluster) {
  std::vector<std::string> members;
  for (int i = 0; i < kHostReasons; ++i) {
    const int64_t times = cluster.fallback_reasons[i];
    if (times > 0) members.push_back(absl::StrCat("\"", NameOf(static_cast<HostReason>(i)), "\": ", times));
  }
  return absl::StrCat("{", absl::StrJoin(members, ", "), "}");
}

std::string ToJson(const ClusterCounters& cluster) {
  // Needs no escaping: names are node names, which contain only letters, digits and _.-/.
  return absl::StrCat(
      "{\"name\": \"", cluster.name, "\", \"ops\": ", cluster.ops, ", \"recipes\": ", cluster.recipes.load(),
      ", \"compile_seconds\": ", Seconds(cluster.compile_microseconds),
      ", \"lowering_seconds\": ", Seconds(cluster.lowering_microseconds), ", \"launches\": ", cluster.launches.load(),
      ", \"arguments\": ", cluster.arguments, ", \"constants\": ", cluster.constants,
      ", \"argument_bytes\": ", cluster.argument_bytes.load(), ", \"recipe_bytes\": ", cluster.recipe_bytes.load(),
      ", \"fallbacks\": ", cluster.fallbacks.load(), ", \"fallback_bytes\": ", cluster.fallback_bytes.load(),
      ", \"fallback_reasons\": ", ReasonsJson(cluster), "}");
}

}  // namespace

Statistics& Statistics::Get() {
  static auto* statistics = [] {
    if (VLOG_IS_ON(1)) std::atexit([] { VLOG(1) << "clusters of this process:\n" << Get().ToTable(); });
    return new Statistics;
  }();
  return *statistics;
}

ClusterCounters* Statistics::Cluster(absl::string_view name, int64_t ops, int64_t arguments, int64_t constants) {
  absl::MutexLock lock(&mutex_);
  for (ClusterCounters& cluster : clusters_) {
    if (cluster.name == name && cluster.ops == ops) return &cluster;
  }
  ClusterCounters& cluster = clusters_.emplace_back();
  cluster.name = std::string(name);
  cluster.ops = ops;
  cluster.arguments = arguments;
  cluster.constants = constants;
  return &cluster;
}

std::string Statistics::ToJson() const {
  absl::MutexLock lock(&mutex_);
  int64_t compile = eager_.compile_microseconds, launches = eager_.launches, fallbacks = 0, fallback_bytes = 0;
  std::string clusters = absl::StrJoin(clusters_, ", ", [&](std::string* out, const ClusterCounters& cluster) {
    compile += cluster.compile_microseconds;
    launches += cluster.launches;
    fallbacks += cluster.fallbacks;
    fallback_bytes += cluster.fallback_bytes;
    absl::StrAppend(out, hpu::ToJson(cluster));
  });
  return absl::StrCat("{\"clusters\": [", clusters, "], \"eager\": {\"recipes\": ", eager_.recipes.load(),
                      ", \"compile_seconds\": ", Seconds(eager_.compile_microseconds),
                      ", \"launches\": ", eager_.launches.load(), ", \"host_runs\": ", eager_.host_runs.load(),
                      ", \"host_bytes\": ", eager_.host_bytes.load(), "}, \"compile_seconds\": ", Seconds(compile),
                      ", \"launches\": ", launches, ", \"fallbacks\": ", fallbacks,
                      ", \"fallback_bytes\": ", fallback_bytes, "}");
}

std::string Statistics::ToTable() const {
  std::string table =
      absl::StrFormat("%-40s %6s %9s %9s %12s %7s %9s %9s %10s %8s %9s\n", "cluster", "ops", "arguments", "constants",
                      "arg. KiB", "recipes", "compile s", "total s", "recipe KiB", "runs", "fallbacks");
  double total = 0;
  absl::MutexLock lock(&mutex_);
  for (const ClusterCounters& cluster : clusters_) {
    if (cluster.recipes == 0 && cluster.launches == 0 && cluster.fallbacks == 0) continue;
    const double seconds = static_cast<double>(cluster.compile_microseconds) * 1e-6;
    total += seconds;
    absl::StrAppendFormat(&table, "%-40s %6d %9d %9d %12.1f %7d %9.3f %9.3f %10.1f %8d %9d\n", cluster.name,
                          cluster.ops, cluster.arguments, cluster.constants, cluster.argument_bytes.load() / 1024.0,
                          cluster.recipes.load(), seconds, total, cluster.recipe_bytes.load() / 1024.0,
                          cluster.launches.load(), cluster.fallbacks.load());
  }
  return table;
}

void Statistics::Reset() {
  absl::MutexLock lock(&mutex_);
  for (ClusterCounters& cluster : clusters_) {
    for (auto* counter :
         {&cluster.recipes, &cluster.compile_microseconds, &cluster.lowering_microseconds, &cluster.argument_bytes,
          &cluster.recipe_bytes, &cluster.launches, &cluster.fallbacks, &cluster.fallback_bytes}) {
      counter->store(0);
    }
    for (std::atomic<int64_t>& counter : cluster.fallback_reasons) counter.store(0);
  }
  for (auto* counter :
       {&eager_.recipes, &eager_.compile_microseconds, &eager_.launches, &eager_.host_runs, &eager_.host_bytes}) {
    counter->store(0);
  }
}

}  // namespace hpu
