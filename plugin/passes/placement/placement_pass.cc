#include "plugin/passes/placement/placement_pass.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "plugin/base/status_macros.h"
#include "plugin/passes/analysis/static_shapes.h"
#include "plugin/passes/analysis/unlisted_ops.h"
#include "plugin/passes/clustering/handle_groups.h"
#include "plugin/passes/functions/loop_functions.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/placement/legacy_variables.h"
#include "plugin/passes/precision/narrowing_pass.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/platform/logging.h"
#include "tensorflow/core/util/device_name_utils.h"

namespace hpu::passes {
namespace {

using tensorflow::Graph;
using tensorflow::Node;

constexpr char kClassAttr[] = "_class";
constexpr char kClassPrefix[] = "loc:@";

bool HasKernel(const Node& node, const char* device) {
  return tensorflow::KernelDefAvailable(tensorflow::DeviceType(device), node.def());
}

// The refusal of an op without an HPU kernel: rule dtype if the HPU has kernels for other dtypes, otherwise rule
// no-kernel.
OpRefusal NoKernel(const Node& node) {
  const tensorflow::KernelList kernels = tensorflow::GetRegisteredKernelsForOp(node.type_string());
  for (const auto& kernel : kernels.kernel()) {
    if (kernel.device_type() == kDeviceType || kernel.device_type() == tensorflow::DEVICE_DEFAULT) {
      return {Rule::kDtype, absl::StrCat("the HPU has no kernel for ", node.type_string(), " with input dtypes [",
                                         tensorflow::DataTypeVectorString(node.input_types()), "] and output dtypes [",
                                         tensorflow::DataTypeVectorString(node.output_types()), "]")};
    }
  }
  return {Rule::kNoKernel, absl::StrCat("the HPU has no kernel for ", node.type_string())};
}

void Explain(Node* node, const OpRefusal& refusal) {
  node->AddAttr(kRefusalAttr, absl::StrCat(NameOf(refusal.rule), ": ", refusal.reason));
}

bool IsOnCpuAlready(const Node& node) {
  return IsPinnedToOtherDevice(node) || (node.has_assigned_device_name() && !IsOnHpu(node));
}

// Whether a node is an Identity of a variant argument in host memory. The variant may contain strings, which cannot be
// copied to the HPU. The graph does not contain the variant's element type.
bool ForwardsHostVariant(const Node& node) {
  if (!node.IsIdentity() || node.num_outputs() != 1 || node.output_type(0) != tensorflow::DT_VARIANT) return false;
  const Node* const source = SourceOf(node, 0);
  return source != nullptr && source->IsArg() && IsOnCpuAlready(*source);
}

class Placement {
 public:
  // `shapes` may be null; ranks are not checked in this case.
  Placement(Graph* graph, const PlacementPolicy& policy, const std::string& host, const StaticShapes* shapes)
      : graph_(graph), policy_(policy), host_(host), shapes_(shapes) {}

  absl::Status Run();

 private:
  void FindRefusals();
  std::optional<OpRefusal> Refuse(const Node& node) const;
  // Placement of a node's handle group: no group, moves to the CPU, stays on the HPU, already on the CPU.
  enum class Group { kNone, kMoves, kStays, kPlaced };
  Group GroupOf(const HandleGroups& groups, const Node& node) const;
  std::optional<OpRefusal> Decide(Node* node, const HandleGroups& groups);
  void Move(Node* node);
  void DropColocation();

  Graph* const graph_;
  const PlacementPolicy& policy_;
  const std::string host_;
  const StaticShapes* const shapes_;
  absl::flat_hash_map<Node*, OpRefusal> refused_;
  std::vector<Node*> moving_;
  absl::flat_hash_set<std::string> uncolocated_;  // names of moved nodes without a handle
};

std::optional<OpRefusal> Placement::Refuse(const Node& node) const {
  if (ForwardsHostVariant(node))
    return OpRefusal{Rule::kDtype, "a list or an optional may contain tensors in host memory"};
  if (auto refusal = policy_.Refuse(node.type_string(), node.attrs())) return refusal;
  const int bound = shapes_ == nullptr ? 0 : policy_.MaxRank(node.type_string());
  const int rank = bound == 0 ? 0 : shapes_->LargestRank(node);
  if (rank <= bound) return std::nullopt;
  return OpRefusal{Rule::kRank, absl::StrCat(node.type_string(), " has a tensor of rank ", rank,
                                             "; the maximum in the op list is ", bound)};
}

void Placement::FindRefusals() {
  for (Node* node : graph_->op_nodes()) {
    if (IsOnCpuAlready(*node)) continue;
    if (auto refusal = Refuse(*node)) refused_.emplace(node, *std::move(refusal));
  }
}

Placement::Group Placement::GroupOf(const HandleGroups& groups, const Node& node) const {
  const std::vector<Node*>& roots = groups.RootsOf(node);
  if (roots.empty() || node.IsFunctionCall()) return Group::kNone;
  if (absl::c_all_of(roots, [](const Node* root) { return IsOnCpuAlready(*root); })) return Group::kPlaced;
  return absl::c_all_of(roots, [&](Node* root) { return refused_.contains(root) || IsOnCpuAlready(*root); })
             ? Group::kMoves
             : Group::kStays;
}

void Placement::Move(Node* node) {
  tensorflow::DeviceNameUtils::ParsedName parsed;
  const bool named = tensorflow::DeviceNameUtils::ParseFullName(node->requested_device(), &parsed) &&
                     (parsed.has_job || parsed.has_task);
  node->set_requested_device(named ? HostOf(node->requested_device()) : host_);
}

// Drops colocation with moved nodes. Such colocation would also move other nodes to the CPU, or contradict user pins.
// Without a shared handle, colocation is only a hint.
void Placement::DropColocation() {
  if (uncolocated_.empty()) return;
  for (Node* node : graph_->op_nodes()) {
    std::vector<std::string> classes;
    if (!tensorflow::TryGetNodeAttr(node->attrs(), kClassAttr, &classes)) continue;
    const size_t before = classes.size();
    classes.erase(std::remove_if(classes.begin(), classes.end(),
                                 [&](const std::string& name) {
                                   return uncolocated_.contains(node->name()) ||
                                          uncolocated_.contains(absl::StripPrefix(name, kClassPrefix));
                                 }),
                  classes.end());
    if (classes.size() == before) continue;
    node->ClearAttr(kClassAttr);
    if (!classes.empty()) node->AddAttr(kClassAttr, classes);
  }
}

// Decides whether a node moves to the CPU. Returns the node's own refusal or the refusal of its handle group.
std::optional<OpRefusal> Placement::Decide(Node* node, const HandleGroups& groups) {
  const auto found = refused_.find(node);
  std::optional<OpRefusal> refusal;
  if (found != refused_.end()) refusal = found->second;
  switch (GroupOf(groups, *node)) {
    case Group::kPlaced:
      break;
    case Group::kMoves:
      if (!refusal) {
        Node* root = groups.RootsOf(*node).front();
        const auto cause = refused_.find(root);
        refusal = cause == refused_.end() ? OpRefusal{Rule::kPinned, "the program requests the CPU"} : cause->second;
        refusal->reason = absl::StrCat("uses ", root->name(), ", which is on the CPU: ", refusal->reason);
      }
      moving_.push_back(node);
      break;
    case Group::kStays:
      if (!refusal) break;
      absl::StrAppend(&refusal->reason,
                      "; its variable is on the HPU, so the op stays on the HPU and its CPU kernel runs on a copy");
      break;
    case Group::kNone:
      if (!refusal) break;
      if (!HasKernel(*node, tensorflow::DEVICE_CPU)) {
        LOG(WARNING) << node->name() << " (" << node->type_string() << ") stays on the HPU although rule "
                     << NameOf(refusal->rule) << " excludes it (" << refusal->reason << "): the op has no CPU kernel";
        return std::nullopt;
      }
      moving_.push_back(node);
      uncolocated_.insert(node->name());
      break;
  }
  return refusal;
}

absl::Status Placement::Run() {
  FindRefusals();
  if (!refused_.empty()) {
    const HandleGroups groups(*graph_);
    for (Node* node : graph_->op_nodes()) {
      if (const auto refusal = Decide(node, groups)) Explain(node, *refusal);
    }
  }
  for (Node* node : graph_->op_nodes()) {
    if (node->attrs().Find(kRefusalAttr) != nullptr || IsOnCpuAlready(*node)) continue;
    if (IsStructural(node->type_string(), node->op_def()) || HasKernel(*node, kDeviceType)) continue;
    Explain(node, NoKernel(*node));
  }
  for (Node* node : moving_) Move(node);
  DropColocation();
  return absl::OkStatus();
}

}  // namespace

absl::Status PlaceUnsupportedOpsOnCpu(PassContext* context, const PlacementPolicy& policy, const std::string& host) {
  Graph* graph = context->graph->get();
  HPU_RETURN_IF_ERROR(PlaceLegacyVariables(graph, host));
  if (policy.list().accepts_all) return Placement(graph, policy, host, nullptr).Run();
  const StaticShapes shapes(graph, context->library);
  HPU_RETURN_IF_ERROR(NarrowTypes(context, policy.list(), shapes));
  return Placement(graph, policy, host, &shapes).Run();
}

void RecordPlacement(PassContext* context) {
  for (Node* node : (*context->graph)->op_nodes()) {
    std::string text;
    if (tensorflow::TryGetNodeAttr(node->attrs(), kRefusalAttr, &text)) {
      const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits(": ", 1));
      AddRefusal(&context->report, node->name(), node->type_string(), RuleNamed(parts.first).value_or(Rule::kUnknown),
                 parts.second);
      if (!IsOnHpu(*node)) node->ClearAttr(kRefusalAttr);
    } else if (!IsOnHpu(*node) && IsPinnedToOtherDevice(*node) && !IsStructural(node->type_string(), node->op_def())) {
      AddRefusal(&context->report, node->name(), node->type_string(), Rule::kPinned,
                 absl::StrCat("a tf.device places it on ", node->requested_device()));
    }
  }
}

tensorflow::Status RunPlacementPass(const tensorflow::GraphOptimizationPassOptions& options) {
  if (!MayUseHpu(options)) return tensorflow::OkStatus();
  const std::string function = options.function_def == nullptr ? "" : options.function_def->signature().name();
  PassContext context(options.graph, options.flib_def, GraphName(function), passes::Settings::FromEnvironment());
  context.function = function;
  const tensorflow::Device* device = options.default_function_device;
  const tensorflow::Status status = PlaceUnsupportedOpsOnCpu(
      &context, PlacementPolicy::Active(), device == nullptr ? "/device:CPU:0" : HostOf(device->name()));
  if (context.report.rewrites_size() > 0) KeepReport(context.report);
  LogUnlistedOps();
  return status;
}

}  // namespace hpu::passes
