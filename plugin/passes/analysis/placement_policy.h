// Policy that excludes ops from the HPU, by user settings and the active op list.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_PLACEMENT_POLICY_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_PLACEMENT_POLICY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "plugin/base/flags/flags.h"
#include "plugin/passes/analysis/op_list.h"
#include "plugin/passes/analysis/op_rules.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {

// Whether the op is from stock Horovod, which operates on host memory.
bool IsHorovodOp(std::string_view op);

// Immutable. Thread safe.
class PlacementPolicy {
 public:
  struct Settings {
    std::vector<std::string> on_cpu;  // from TF_PLACE_ON_CPU
    std::string list;                 // from HPU_OP_LIST and HPU_CARD_RULES
    flags::OpListUnknownSetting unknown =
        flags::OpListUnknownSetting::kWarn;  // from HPU_OP_LIST_UNKNOWN and HPU_CARD_RULES
    uint64_t added_types = 0;                // from HPU_DEVICE_TYPE: types that the list lacks, one bit per DataType
  };

  explicit PlacementPolicy(const Settings& settings);

  // The policy for the current settings. Never destroyed, so kernels may keep the reference.
  static const PlacementPolicy& Active();

  const OpListData& list() const { return list_; }

  // If true, Refuse accepts the op with any types. Cheaper than Refuse; may be false for accepted ops.
  bool AcceptsAllTypes(std::string_view op) const { return accepts_all() && !IsHorovodOp(op); }

  // The rule that excludes an op with these attributes from the HPU: `user-setting`, `horovod`, `op-list` or `dtype`. A
  // missing attribute has its default value.
  std::optional<OpRefusal> Refuse(const std::string& op, tensorflow::AttrSlice attrs) const;

  // The largest rank that the list allows for an op; 0 if unbounded.
  int MaxRank(const std::string& op) const;

  // Fails if a jit_compile=True function, or a function that it calls, contains a refused op. The error names the op
  // and the rule.
  absl::Status CheckMustCompile(const std::string& function,
                                const tensorflow::FunctionLibraryDefinition& library) const;

 private:
  std::optional<OpRefusal> RefuseByUser(const std::string& op) const;
  std::optional<OpRefusal> RefuseByList(const std::string& op, tensorflow::AttrSlice attrs) const;
  std::optional<OpRefusal> RefuseType(const std::string& op, const OpEntry& entry, const std::string& attribute,
                                      tensorflow::DataType type) const;
  bool accepts_all() const { return list_.accepts_all && on_cpu_.empty() && !all_on_cpu_; }
  // Applies HPU_OP_LIST_UNKNOWN to an op ("Erfinv") or type of an op ("Pack with T=int32") that the list lacks.
  std::optional<OpRefusal> Unknown(const std::string& op, Rule rule) const;

  const OpListData& list_;
  const uint64_t types_;  // the list's types and Settings::added_types
  const flags::OpListUnknownSetting unknown_;
  bool all_on_cpu_ = false;
  absl::flat_hash_set<std::string> on_cpu_;
};

// Whether an op is part of the graph's structure rather than its computation: arguments, results, constants, control
// flow, calls, communication, ops of this plugin. Op lists do not cover such ops.
bool IsStructural(std::string_view op, const tensorflow::OpDef& definition);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_PLACEMENT_POLICY_H_
