// Report of what the passes did to a graph and why: clusters, refusals and rewrites.
#ifndef HPU_PLUGIN_PASSES_REPORTING_REPORT_H_
#define HPU_PLUGIN_PASSES_REPORTING_REPORT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hpu::passes {

// An op that is in no cluster.
struct Refusal {
  std::string node;
  std::string op;
  std::string rule;    // short name of the rule, for grouping: see docs/developer/pamsen.md
  std::string reason;  // a sentence for the user
};

// An op that a pass replaced by others.
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
  int64_t ops = 0;        // nodes of its function, without arguments and results
  int64_t arguments = 0;  // total number
  int64_t constants = 0;  // arguments that are known at compile time
  int64_t resources = 0;  // arguments that are resource handles
  int64_t results = 0;
};

// Why a cluster is only a part of a possible larger one.
struct Cut {
  std::string cluster;
  std::string rule;
  std::string reason;
};

// An op of a graph after segmentation. Recorded only on request (op_records.h).
struct OpRecord {
  std::string node;
  std::string op;
  std::string device;               // full name
  std::string cluster;              // empty: none
  std::vector<std::string> dtypes;  // of its results
  std::string rule;                 // what keeps it out of clusters or off the HPU; empty in a cluster
  std::string reason;
  std::vector<int> inputs;  // positions in the list of records, control inputs included, each once
};

// Why two consecutive clusters are not one.
struct Gap {
  std::string first;
  std::string second;
  std::string rule;
  std::string reason;
  std::vector<std::string> through;  // ops outside that run between them, if that is the reason
};

// A tensor that a graph sends to other devices.
struct Crossing {
  int64_t record = 0;  // number of the graph's report
  std::string key;     // TensorFlow's name of the tensor
  std::string from;
  std::vector<std::string> to;
};

struct PassTime {
  std::string pass;
  double seconds = 0;
};

// Not thread safe: each run of the passes has its own.
struct Report {
  std::string graph;
  std::string function;   // with TensorFlow's decoration, empty for a Session's graph
  int64_t nodes = 0;      // of the graph before the passes
  int64_t hpu_nodes = 0;  // of these, assigned to an HPU
  std::vector<Refusal> refusals;
  std::vector<Rewrite> rewrites;
  std::vector<Cluster> clusters;
  std::vector<Cut> cuts;
  std::vector<PassTime> times;
  // Set only after CollectOpRecords(true).
  int64_t record = 0;  // number of the graph, from 1
  std::vector<OpRecord> ops;
  std::vector<Gap> gaps;

  void Refuse(std::string_view node, std::string_view op, std::string_view rule, std::string_view reason);

  // As a JSON object whose fields have the names above. Op records are included only if there are any.
  std::string ToJson(bool with_records = true) const;
};

// The reports of the process's latest graphs, oldest first, as a JSON list. Thread safe.
std::string RecentReports();
void KeepReport(const Report& report);

// Whether passes record every op, and KeepReport() keeps all reports for OpReports() too. Costs memory and time;
// initially off. Enabling it discards earlier records. Thread safe.
void CollectOpRecords(bool collect);
bool CollectsOpRecords();

// A unique number for a report. Thread safe.
int64_t NextRecord();

// The records since CollectOpRecords(true), as members of a JSON object: "graphs" (the reports, oldest first),
// "dropped" (the number of reports that did not fit), "crossings". Thread safe.
std::string OpReports();
void KeepCrossing(const Crossing& crossing);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_REPORTING_REPORT_H_
