#include "plugin/passes/pipeline.h"

#include <chrono>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "plugin/base/status_macros.h"
#include "plugin/passes/analysis/clustering_rules.h"
#include "plugin/passes/clustering/assertion_pass.h"
#include "plugin/passes/clustering/call_order_pass.h"
#include "plugin/passes/clustering/check_pass.h"
#include "plugin/passes/clustering/constant_branch_pass.h"
#include "plugin/passes/clustering/encapsulation_pass.h"
#include "plugin/passes/clustering/handle_identity_pass.h"
#include "plugin/passes/clustering/marking_pass.h"
#include "plugin/passes/clustering/op_records.h"
#include "plugin/passes/clustering/range_check_pass.h"
#include "plugin/passes/clustering/segmentation_pass.h"
#include "plugin/passes/clustering/update_guard_pass.h"
#include "plugin/passes/clustering/value_check_pass.h"
#include "plugin/passes/collectives/collective_pass.h"
#include "plugin/passes/control_flow/unused_results_pass.h"
#include "plugin/passes/patterns/fold_pass.h"
#include "plugin/passes/patterns/pattern_pass.h"
#include "plugin/passes/patterns/size_pass.h"
#include "plugin/passes/precision/bf16_pass.h"
#include "plugin/passes/precision/fp32_math_pass.h"
#include "plugin/passes/random/random_pass.h"
#include "plugin/passes/reporting/dump.h"
#include "tensorflow/core/graph/algorithm.h"

namespace hpu::passes {
namespace {

struct Pass {
  std::string_view name;
  absl::Status (*run)(PassContext*);
  bool for_clusters = true;  // false: runs even without clusters, because the pass changes results
};

absl::Status AddChecks(PassContext* context) {
  HPU_RETURN_IF_ERROR(AddIndexChecks(context));
  HPU_RETURN_IF_ERROR(AddRangeChecks(context));
  HPU_RETURN_IF_ERROR(AddValueChecks(context));
  return MoveAssertionsBack(context);
}

constexpr Pass kPasses[] = {
    {"results", RemoveUnusedResults},
    {"handles", BypassHandleIdentities},
    {"fold", FoldConstants},
    {"patterns", MatchPatterns},
    {"bf16", ConvertToBf16, /*for_clusters=*/false},
    {"fp32_math", RoundOperandsOfProducts, /*for_clusters=*/false},
    {"random", RewriteRandomOps},
    {"checks", AddChecks},
    {"collectives", RewriteCollectives},
    {"mark", MarkCandidates},
    {"segment", SegmentGraph},
    {"guards", GuardUpdates},
    {"sizes", RewriteSizes},
    {"branches", ReplaceConstantBranches},
    {"calls", OrderCalls},
    {"encapsulate", EncapsulateClusters},
};

absl::Status RunTimed(const Pass& pass, PassContext* context) {
  const auto start = std::chrono::steady_clock::now();
  // Inlining and node removal leave nodes without edges from the source or to the sink. Loop analyses require these
  // edges.
  tensorflow::FixupSourceAndSinkEdges(context->graph->get());
  const absl::Status status = pass.run(context);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  report::v1::PassTime* time = context->report.add_times();
  time->set_pass_name(std::string(pass.name));
  time->set_seconds(seconds.count());
  return status;
}

// Writes the graph dumps of one pipeline run.
class Dumper {
 public:
  // `context` must outlive this object.
  explicit Dumper(const PassContext& context) : context_(context), label_(LabelOf(context)) {}

  void Before() const { DumpPair(context_.settings, label_, "before", **context_.graph, *context_.library); }
  void AfterPass(int number, std::string_view pass) const {
    Dump(context_.settings, kDumpAll, label_, absl::StrCat(kPhase, "_", number, "_", pass), **context_.graph,
         *context_.library);
  }
  void After() const {
    Dump(context_.settings, kDumpResult, label_, kPhase, **context_.graph, *context_.library);
    DumpPair(context_.settings, label_, "after", **context_.graph, *context_.library);
  }

 private:
  static constexpr char kPhase[] = "POST_REWRITE_FOR_EXEC";

  static std::string LabelOf(const PassContext& context) {
    const Settings& settings = context.settings;
    const bool any =
        (settings.dump_level > 0 && !settings.dump_directory.empty()) || !settings.graph_def_directory.empty();
    return any ? DumpLabel(context.function, context.graph_name) : "";
  }

  const PassContext& context_;
  const std::string label_;
};

}  // namespace

std::vector<std::string> PassNames() {
  std::vector<std::string> names;
  for (const Pass& pass : kPasses) names.emplace_back(pass.name);
  return names;
}

absl::Status RunPasses(PassContext* context) {
  const Dumper dump(*context);
  dump.Before();
  const bool clusters = AllowsClusters(*context);
  if (!clusters) RecordClusteringOff(context);
  const bool records = CollectsOpRecords();
  int number = 0;
  for (const Pass& pass : kPasses) {
    if (pass.for_clusters && !clusters) continue;
    if (records && pass.run == EncapsulateClusters) HPU_RETURN_IF_ERROR(RecordOps(context));
    HPU_RETURN_IF_ERROR(RunTimed(pass, context));
    dump.AfterPass(++number, pass.name);
  }
  if (records && !clusters) HPU_RETURN_IF_ERROR(RecordOps(context));
  if (records) TagNodes(context);
  dump.After();
  return absl::OkStatus();
}

absl::Status RunPass(PassContext* context, std::string_view name) {
  for (const Pass& pass : kPasses) {
    if (pass.name == name) return RunTimed(pass, context);
  }
  return absl::NotFoundError(
      absl::StrCat("unknown graph pass ", std::string(name), "; expected one of ", absl::StrJoin(PassNames(), ", ")));
}

}  // namespace hpu::passes
