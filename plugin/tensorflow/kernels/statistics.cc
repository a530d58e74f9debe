#include "plugin/tensorflow/kernels/statistics.h"

#include <cstdlib>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "tensorflow/core/platform/logging.h"

namespace hpu {
namespace {

double Seconds(int64_t microseconds) { return static_cast<double>(microseconds) * 1e-6; }

void Fill(const ClusterCounters& cluster, report::v1::ClusterCounters* counters) {
  counters->set_name(cluster.name);
  counters->set_ops(cluster.ops);
  counters->set_recipes(cluster.recipes);
  counters->set_compile_seconds(Seconds(cluster.compile_microseconds));
  counters->set_lowering_seconds(Seconds(cluster.lowering_microseconds));
  counters->set_launches(cluster.launches);
  counters->set_arguments(cluster.arguments);
  counters->set_constants(cluster.constants);
  counters->set_argument_bytes(cluster.argument_bytes);
  counters->set_recipe_bytes(cluster.recipe_bytes);
  counters->set_fallbacks(cluster.fallbacks);
  counters->set_fallback_bytes(cluster.fallback_bytes);
  counters->set_changing_size(cluster.changing_size);
  counters->set_padded_launches(cluster.padded_launches);
  counters->set_changing_bytes(cluster.changing_bytes);
  counters->set_padded_bytes(cluster.padded_bytes);
  for (size_t i = 0; i < kRules.size(); ++i) {
    const int64_t times = cluster.fallback_reasons[i];
    if (times > 0) (*counters->mutable_fallback_reasons())[std::string(kRules[i].name)] = times;
  }
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

void Statistics::SetChangingSize(ClusterCounters* cluster, std::string text) {
  absl::MutexLock lock(&mutex_);
  cluster->changing_size = std::move(text);
}

report::v1::Statistics Statistics::Read() const {
  absl::MutexLock lock(&mutex_);
  report::v1::Statistics read;
  int64_t compile = eager_.compile_microseconds, launches = eager_.launches, fallbacks = 0, fallback_bytes = 0;
  for (const ClusterCounters& cluster : clusters_) {
    compile += cluster.compile_microseconds;
    launches += cluster.launches;
    fallbacks += cluster.fallbacks;
    fallback_bytes += cluster.fallback_bytes;
    Fill(cluster, read.add_clusters());
  }
  report::v1::EagerCounters& eager = *read.mutable_eager();
  eager.set_recipes(eager_.recipes);
  eager.set_compile_seconds(Seconds(eager_.compile_microseconds));
  eager.set_launches(eager_.launches);
  eager.set_host_runs(eager_.host_runs);
  eager.set_host_bytes(eager_.host_bytes);
  read.set_compile_seconds(Seconds(compile));
  read.set_launches(launches);
  read.set_fallbacks(fallbacks);
  read.set_fallback_bytes(fallback_bytes);
  return read;
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
          &cluster.recipe_bytes, &cluster.launches, &cluster.fallbacks, &cluster.fallback_bytes,
          &cluster.padded_launches, &cluster.changing_bytes, &cluster.padded_bytes}) {
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
