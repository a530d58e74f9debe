// What the passes did to a graph and why: which ops stayed out of clusters, and which clusters there are.
#ifndef HPU_PLUGIN_PASSES_REPORT_H_
#define HPU_PLUGIN_PASSES_REPORT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hpu::passes {

// One op that stays out of every cluster.
struct Refusal {
  std::string node;
  std::string op;
  std::string rule;    // short name of the rule, for grouping: see docs/pamsen.md
  std::string reason;  // a sentence for people
};

// One op that a pass replaced by others.
struct Rewrite {
  std::string node;
  std::string op;
  std::string pass;
  std::string what;
};

struct Cluster {
  std::string name;
  std::string device;
  bool must_compile = false;
  int64_t ops = 0;        // nodes of its function but arguments and results
  int64_t arguments = 0;  // all of them
  int64_t constants = 0;  // of these, known at compile time
  int64_t resources = 0;  // of these, resource handles
  int64_t results = 0;
};

// Why a cluster is only a part of what could have been one.
struct Cut {
  std::string cluster;
  std::string rule;
  std::string reason;
};

struct PassTime {
  std::string pass;
  double seconds = 0;
};

// Not thread safe: each run of the passes has its own.
struct Report {
  std::string graph;
  int64_t nodes = 0;      // of the graph as it came
  int64_t hpu_nodes = 0;  // of these, assigned to an HPU
  std::vector<Refusal> refusals;
  std::vector<Rewrite> rewrites;
  std::vector<Cluster> clusters;
  std::vector<Cut> cuts;
  std::vector<PassTime> times;

  void Refuse(std::string_view node, std::string_view op, std::string_view rule, std::string_view reason);

  // As one JSON object; the fields have the names above.
  std::string ToJson() const;
};

// The reports of the latest graphs of this process, oldest first, as a JSON list. Thread safe.
std::string RecentReports();
void KeepReport(const Report& report);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_REPORT_H_
