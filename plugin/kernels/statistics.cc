#include "plugin/kernels/statistics.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace hpu {
namespace {

std::string Seconds(int64_t microseconds) { return absl::StrCat(static_cast<double>(microseconds) * 1e-6); }

std::string ToJson(const ClusterCounters& cluster) {
  // Names are node names: letters, digits and _.-/ only.
  return absl::StrCat(
      "{\"name\": \"", cluster.name, "\", \"ops\": ", cluster.ops, ", \"recipes\": ", cluster.recipes.load(),
      ", \"compile_seconds\": ", Seconds(cluster.compile_microseconds), ", \"launches\": ", cluster.launches.load(),
      ", \"fallbacks\": ", cluster.fallbacks.load(), ", \"fallback_bytes\": ", cluster.fallback_bytes.load(), "}");
}

}  // namespace

Statistics& Statistics::Get() {
  static auto* statistics = new Statistics;
  return *statistics;
}

ClusterCounters* Statistics::Cluster(absl::string_view name, int64_t ops) {
  absl::MutexLock lock(&mutex_);
  for (ClusterCounters& cluster : clusters_) {
    if (cluster.name == name && cluster.ops == ops) return &cluster;
  }
  ClusterCounters& cluster = clusters_.emplace_back();
  cluster.name = std::string(name);
  cluster.ops = ops;
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

void Statistics::Reset() {
  absl::MutexLock lock(&mutex_);
  for (ClusterCounters& cluster : clusters_) {
    for (auto* counter : {&cluster.recipes, &cluster.compile_microseconds, &cluster.launches, &cluster.fallbacks,
                          &cluster.fallback_bytes}) {
      counter->store(0);
    }
  }
  for (auto* counter :
       {&eager_.recipes, &eager_.compile_microseconds, &eager_.launches, &eager_.host_runs, &eager_.host_bytes}) {
    counter->store(0);
  }
}

}  // namespace hpu
