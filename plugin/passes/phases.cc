// Registration and order of all graph passes in TensorFlow's phases.
#include <memory>

#include "plugin/passes/clustering/xla_launch_pass.h"
#include "plugin/passes/control_flow/assertion_branch_pass.h"
#include "plugin/passes/control_flow/control_flow_pass.h"
#include "plugin/passes/control_flow/function_values_pass.h"
#include "plugin/passes/control_flow/inline_pass.h"
#include "plugin/passes/control_flow/list_bound_pass.h"
#include "plugin/passes/control_flow/loop_handle_pass.h"
#include "plugin/passes/control_flow/loop_index_pass.h"
#include "plugin/passes/control_flow/loop_invariant_pass.h"
#include "plugin/passes/control_flow/placeholder_pass.h"
#include "plugin/passes/control_flow/switch_side_pass.h"
#include "plugin/passes/driver_pass.h"
#include "plugin/passes/patterns/in_place_pass.h"
#include "plugin/passes/placement/host_device_transfer_pass.h"
#include "plugin/passes/placement/placement_pass.h"
#include "plugin/passes/placement/user_pin_pass.h"
#include "plugin/passes/reporting/dump_pass.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"

namespace hpu::passes {
namespace {

using Registry = tensorflow::OptimizationPassRegistry;

struct Phase {
  Registry::Grouping grouping;
  int phase;  // ascending order; passes of the same phase run in table order
  const char* name;
  tensorflow::Status (*run)(const tensorflow::GraphOptimizationPassOptions& options);
};

constexpr int kLast = 1 << 20;

constexpr Phase kPhases[] = {
    // Runs before other passes request devices.
    {Registry::PRE_PLACEMENT, -1, "UserPinPass", RunUserPinPass},
    // Hide, replace or inline ops that TensorFlow would expand or lower in phase 10.
    {Registry::PRE_PLACEMENT, 0, "HidePass", RunHidePass},
    {Registry::PRE_PLACEMENT, 0, "InPlacePass", RunInPlacePass},
    {Registry::PRE_PLACEMENT, 1, "InlinePass", RunInlinePass},
    // Analyse loops and branches, after inlining.
    {Registry::PRE_PLACEMENT, 2, "PlaceholderPass", RunPlaceholderPass},
    {Registry::PRE_PLACEMENT, 2, "LoopHandlePass", RunLoopHandlePass},
    {Registry::PRE_PLACEMENT, 2, "ListBoundPass", RunListBoundPass},
    {Registry::PRE_PLACEMENT, 2, "LoopIndexPass", RunLoopIndexPass},
    // Phase 10: TensorFlow inlines calls and lowers loops and branches.
    {Registry::PRE_PLACEMENT, 11, "AssertionBranchPass", RunAssertionBranchPass},
    {Registry::PRE_PLACEMENT, 11, "LowerPass", RunLowerPass},
    // Place the ops that remain after lowering.
    {Registry::PRE_PLACEMENT, 12, "FunctionValuesPass", RunFunctionValuesPass},
    {Registry::PRE_PLACEMENT, 12, "PlacementPass", RunPlacementPass},
    // Phase 36: TensorFlow encapsulates the ops of tf.xla.experimental.compile.
    {Registry::PRE_PLACEMENT, 37, "XlaLaunchPass", RunXlaLaunchPass},
    {Registry::PRE_PLACEMENT, kLast, "DumpBeforePlacement", DumpBeforePlacement},
    // TensorFlow places the graph.
    {Registry::POST_PLACEMENT, kLast, "DumpAfterPlacement", DumpAfterPlacement},
    // Remove or change edges that clusters would inherit.
    {Registry::POST_REWRITE_FOR_EXEC, 0, "LoopInvariantPass", RunLoopInvariantPass},
    {Registry::POST_REWRITE_FOR_EXEC, 0, "SwitchSidePass", RunSwitchSidePass},
    // Make clusters (pipeline.h), before TensorFlow's own clustering in phase 10.
    {Registry::POST_REWRITE_FOR_EXEC, 5, "DriverPass", RunDriverPass},
    // TensorFlow partitions the graph.
    {Registry::POST_PARTITIONING, 100, "HostDeviceTransferPass", RunHostDeviceTransferPass},
};

class PhasePass : public tensorflow::GraphOptimizationPass {
 public:
  explicit PhasePass(const Phase& phase) : phase_(phase) { set_name(phase.name); }

  tensorflow::Status Run(const tensorflow::GraphOptimizationPassOptions& options) override {
    return phase_.run(options);
  }

 private:
  const Phase& phase_;
};

[[maybe_unused]] const bool kRegistered = [] {
  for (const Phase& phase : kPhases) {
    Registry::Global()->Register(phase.grouping, phase.phase, std::make_unique<PhasePass>(phase));
  }
  return true;
}();

}  // namespace
}  // namespace hpu::passes
