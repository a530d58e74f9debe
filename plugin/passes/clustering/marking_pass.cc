#include "plugin/passes/clustering/marking_pass.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/compat/cluster_analysis.h"
#include "plugin/compat/function_bodies.h"
#include "plugin/op_facts/op_facts.h"
#include "plugin/passes/analysis/branch_shapes.h"
#include "plugin/passes/analysis/clustering_rules.h"
#include "plugin/passes/analysis/constant_origin.h"
#include "plugin/passes/analysis/handle_device.h"
#include "plugin/passes/analysis/list_states.h"
#include "plugin/passes/analysis/lowerings.h"
#include "plugin/passes/analysis/placement_policy.h"
#include "plugin/passes/clustering/bounded_sizes.h"
#include "plugin/passes/clustering/jit_calls.h"
#include "plugin/passes/clustering/range_check_pass.h"
#include "plugin/passes/functions/functional_control_flow.h"
#include "plugin/passes/graph/graph_util.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/framework/kernel_def.pb.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/graph/algorithm.h"
#include "tensorflow/core/platform/logging.h"

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::Graph;
using tensorflow::Node;

constexpr int kMaxCallDepth = 32;
constexpr char kDependsOnData[] = "requires a compile-time constant whose value depends on data";

// Checks for a lowering, because TensorFlow's checker also accepts kernels for DEVICE_DEFAULT.
std::optional<OpRefusal> RefuseWithoutLowering(const Node& node) {
  if (node.IsFunctionCall() || node.type_string() == tensorflow::FunctionLibraryDefinition::kGradientOp ||
      HasLowering(node.def())) {
    return std::nullopt;
  }
  return OpRefusal{Rule::kUncompilable, WhyNoLowering(node.def())};
}

bool HasUsedResourceOutput(const Node& node) {
  bool has_resource = false;
  for (const tensorflow::DataType type : node.output_types()) has_resource |= type == tensorflow::DT_RESOURCE;
  if (!has_resource) return false;
  // A loop returns its resource handles, but these results are usually unused.
  if (!node.IsWhileNode()) return true;
  for (const Edge* edge : node.out_edges()) {
    if (!edge->IsControlEdge() && node.output_type(edge->src_output()) == tensorflow::DT_RESOURCE) return true;
  }
  return false;
}

}  // namespace

struct CandidateRules::Impl {
  explicit Impl(PassContext* context)
      : graph(**context->graph),
        settings(context->settings),
        runtime(context->Runtime()),
        checker(CompilationDevice()),
        shapes(context->graph->get(), context->library),
        lists(context->library, &shapes),
        lists_inside(context->library, /*shapes=*/nullptr) {}

  std::optional<OpRefusal> RefuseFunction(const std::string& name, tensorflow::AttrSlice attrs, int depth);
  std::optional<OpRefusal> RefuseBodyNode(const Node& node, int depth);
  std::optional<OpRefusal> RefuseCalls(const Node& node, int depth);
  std::optional<OpRefusal> RefuseConstants(const Node& node, const std::vector<Origin>& origins);
  std::optional<OpRefusal> RefuseShapesOfBranches(const Node& node, const std::vector<Origin>& origins);

  // Of the graph's nodes. Nodes that are added after the first call have no origin.
  const std::vector<Origin>& Origins() {
    if (!graph_origins.has_value()) graph_origins = FindOrigins(graph);
    return *graph_origins;
  }

  const tensorflow::Graph& graph;
  const Settings& settings;
  tensorflow::FunctionLibraryRuntime* runtime;
  CompilabilityChecker checker;
  LazyShapes shapes;
  ListStates lists;
  ListStates lists_inside;  // for functions, whose shapes are unknown
  const PlacementPolicy& policy = PlacementPolicy::Active();
  absl::flat_hash_map<std::string, std::optional<OpRefusal>> functions;
  std::optional<std::vector<Origin>> graph_origins;
};

std::optional<OpRefusal> CandidateRules::Impl::RefuseBodyNode(const Node& node, int depth) {
  if (node.IsArg() || node.IsRetval()) return std::nullopt;
  if (auto refusal = RefuseByOp(node)) return refusal;
  if (auto refusal = RefuseInsideBySettings(node, settings)) return refusal;
  if (auto refusal = policy.Refuse(node.type_string(), node.attrs())) return refusal;
  if (IsPinnedToOtherDevice(node) && !node.IsConstant())
    return OpRefusal{Rule::kPinned, absl::StrCat("is pinned to ", node.requested_device())};
  const IndexedOp* indexed = IndexedOpOf(node.type_string());
  if (indexed != nullptr && indexed->needs_check && node.attrs().Find(kInRangeAttr) == nullptr) {
    return OpRefusal{Rule::kLostError,
                     absl::StrCat(node.type_string(), " checks its indices on the CPU but not in compiled code")};
  }
  if (MayHaveEmptyRange(node)) {
    return OpRefusal{Rule::kLostError,
                     absl::StrCat(node.type_string(), " checks its range on the CPU but not in compiled code")};
  }
  if (node.attrs().Find(kUncheckedAttr) != nullptr) {
    return OpRefusal{Rule::kLostError, absl::StrCat(node.type_string(), " may have an out-of-range index")};
  }
  if (IsPlaceholderOfUnknownShape(node))
    return OpRefusal{Rule::kUncompilable, "is a placeholder of unknown shape for a tensor of another branch"};
  if (auto reason = lists_inside.WhyNotCompiled(node, /*whole=*/true)) return OpRefusal{Rule::kListLength, *reason};
  if (auto refusal = RefuseWithoutLowering(node)) return refusal;
  return RefuseCalls(node, depth);
}

// Refuses a node whose compile-time constants depend on data or on ops that tf2xla cannot evaluate.
std::optional<OpRefusal> CandidateRules::Impl::RefuseConstants(const Node& node, const std::vector<Origin>& origins) {
  const absl::StatusOr<Origin> origin = OriginOfConstants(node, origins, runtime);
  if (!origin.ok() || *origin != Origin::kData) return std::nullopt;
  return OpRefusal{Rule::kChangingConstant, kDependsOnData};
}

// Refuses a branch whose predicate is unknown while tf2xla compiles, if its functions return different shapes.
std::optional<OpRefusal> CandidateRules::Impl::RefuseShapesOfBranches(const Node& node,
                                                                      const std::vector<Origin>& origins) {
  if (!node.IsIfNode() && !node.IsCaseNode()) return std::nullopt;
  const Node* predicate = nullptr;
  if (!node.input_node(0, &predicate).ok() || origins[predicate->id()] <= Origin::kStatic) return std::nullopt;
  const auto reason = WhyShapesDiffer(node, *runtime->GetFunctionLibraryDefinition());
  return reason ? std::make_optional(OpRefusal{Rule::kUncompilable, *reason}) : std::nullopt;
}

// Refuses a function in which a size that depends on values reaches a result.
std::optional<OpRefusal> RefuseSizesOf(Graph* body) {
  std::vector<int> clusters(body->num_node_ids(), 0);
  for (const Node* node : body->nodes()) {
    if (!node->IsOp() || node->IsRetval()) clusters[node->id()] = -1;
  }
  const auto refused = BoundedSizes(body).Refused(clusters);
  if (refused.empty()) return std::nullopt;
  return OpRefusal{Rule::kDynamicSize, refused[0].second};
}

std::optional<OpRefusal> CandidateRules::Impl::RefuseFunction(const std::string& name, tensorflow::AttrSlice attrs,
                                                              int depth) {
  if (depth > kMaxCallDepth)
    return OpRefusal{Rule::kRecursion, absl::StrCat("nests function calls more than ", kMaxCallDepth, " levels deep")};
  const std::string key = tensorflow::Canonicalize(name, attrs);
  if (const auto found = functions.find(key); found != functions.end()) return found->second;
  functions[key] = std::nullopt;  // ends recursion; the compilability checker refuses recursive calls
  const absl::StatusOr<const tensorflow::FunctionBody*> body = InstantiateBody(name, attrs, runtime);
  std::optional<OpRefusal> refusal;
  if (!body.ok()) {
    refusal = OpRefusal{Rule::kUncompilable,
                        absl::StrCat("cannot instantiate its function ", name, ": ", body.status().message())};
  } else {
    const std::vector<Origin> origins = FindOrigins(*(*body)->graph, /*is_body=*/true);
    for (const Node* node : (*body)->graph->op_nodes()) {
      refusal = RefuseBodyNode(*node, depth);
      if (!refusal) refusal = RefuseConstants(*node, origins);
      if (!refusal) refusal = RefuseShapesOfBranches(*node, origins);
      if (!refusal) continue;
      refusal->reason = absl::StrCat(refusal->reason, " (", node->name(), " in ", name, ")");
      break;
    }
    if (!refusal) refusal = RefuseSizesOf((*body)->graph);
  }
  functions[key] = refusal;
  return refusal;
}

// The type of a loop's or branch's condition; DT_BOOL for other nodes.
tensorflow::DataType TypeOfCondition(const Node& node, tensorflow::FunctionLibraryRuntime* runtime) {
  if (node.IsIfNode()) return node.input_type(0);
  tensorflow::NameAttrList condition;
  if (!node.IsWhileNode() || !tensorflow::GetNodeAttr(node.attrs(), "cond", &condition).ok())
    return tensorflow::DT_BOOL;
  const auto body = InstantiateBody(condition.name(), tensorflow::AttrSlice(&condition.attr()), runtime);
  return body.ok() && (*body)->ret_types.size() == 1 ? (*body)->ret_types[0] : tensorflow::DT_BOOL;
}

std::optional<OpRefusal> CandidateRules::Impl::RefuseCalls(const Node& node, int depth) {
  if (const tensorflow::DataType type = TypeOfCondition(node, runtime); type != tensorflow::DT_BOOL) {
    return OpRefusal{Rule::kUncompilable,
                     absl::StrCat("its condition is of type ", tensorflow::DataTypeString(type), ", not bool")};
  }
  const bool is_call = node.IsFunctionCall() || IsFunctionalControlFlow(node);
  if (is_call && PassesHandleTwice(node)) {
    // The function has two arguments for the variable, and tf2xla would lose the writes to one of them.
    return OpRefusal{Rule::kResourceHandle, "passes one variable as several arguments to a function"};
  }
  if (node.IsFunctionCall() && !node.IsPartitionedCall()) {
    return RefuseFunction(node.type_string(), node.attrs(), depth + 1);
  }
  if (!node.IsPartitionedCall() && !IsFunctionalControlFlow(node)) return std::nullopt;
  for (const auto& [name, value] : node.attrs()) {
    if (value.has_func()) {
      if (auto r = RefuseFunction(value.func().name(), tensorflow::AttrSlice(&value.func().attr()), depth + 1))
        return r;
    }
    for (const tensorflow::NameAttrList& function : value.list().func()) {
      if (auto r = RefuseFunction(function.name(), tensorflow::AttrSlice(&function.attr()), depth + 1)) return r;
    }
  }
  return std::nullopt;
}

CandidateRules::CandidateRules(PassContext* context) : impl_(std::make_unique<Impl>(context)) {
  tensorflow::XlaOpRegistry::RegisterCompilationKernels();
}

CandidateRules::~CandidateRules() = default;

std::optional<OpRefusal> CandidateRules::RefuseCallees(const Node& node) {
  if (auto refusal = impl_->RefuseCalls(node, 0)) return refusal;
  if (node.IsIfNode() || node.IsCaseNode()) {
    if (auto refusal = impl_->RefuseShapesOfBranches(node, impl_->Origins())) return refusal;
  }
  if (auto reason = impl_->checker.WhyNotCompilable(node, impl_->runtime))
    return OpRefusal{Rule::kUncompilable, *reason};
  return RefuseWithoutLowering(node);
}

std::optional<OpRefusal> CandidateRules::Refuse(const Node& node) {
  if (node.IsArg() || node.IsRetval()) return OpRefusal{Rule::kBorder, "is an argument or a result of the graph"};
  if (node.attrs().Find(kHostShapeAttr) != nullptr) return OpRefusal{Rule::kHostShape, "computes a size for a host op"};
  if (node.attrs().Find(kUncheckedAttr) != nullptr) {
    return OpRefusal{Rule::kLostError, "its indices, range or values cannot be checked outside the cluster"};
  }
  if (auto refusal = RefuseByOp(node)) return refusal;
  if (auto refusal = RefuseBySettings(node, impl_->settings)) return refusal;
  if (auto reason = impl_->lists.WhyNotCompiled(node, /*whole=*/false)) return OpRefusal{Rule::kListLength, *reason};
  if (HasUsedResourceOutput(node)) return OpRefusal{Rule::kResourceHandle, "passes a resource handle to other ops"};
  if (HasHandleOfOtherDevice(node)) return OpRefusal{Rule::kResourceHandle, "uses a resource on another device"};
  return RefuseCallees(node);
}

namespace {

// Makes the call of a jit_compile function a cluster by itself.
void SetAlone(Node* call, const std::string& reason) {
  call->ClearAttr(kJitCallAttr);
  call->AddAttr(kMustCompileAttr, reason);
}

// Refuses ops whose compile-time constants depend on data or change in each loop iteration, because recompiling costs
// more than a launch saves.
tensorflow::Status RefuseChangingConstants(PassContext* context, std::vector<Node*>* candidates) {
  const std::vector<Origin> origins = FindOrigins(**context->graph);
  std::vector<Node*> kept;
  for (Node* node : *candidates) {
    const bool is_jit_call = node->attrs().Find(kJitCallAttr) != nullptr;
    const auto refuse = [&](Rule rule, const std::string& reason) {
      if (is_jit_call) {
        SetAlone(node, reason);
      } else {
        AddRefusal(&context->report, node->name(), node->type_string(), rule, reason);
      }
    };
    const absl::StatusOr<Origin> origin = OriginOfConstants(*node, origins, context->Runtime());
    if (!origin.ok()) {
      refuse(Rule::kUncompilable, std::string(origin.status().message()));
      continue;
    }
    if (*origin >= Origin::kLoop) {
      refuse(Rule::kChangingConstant,
             *origin == Origin::kLoop
                 ? "requires a compile-time constant whose value changes in each iteration of a loop"
                 : kDependsOnData);
      continue;
    }
    kept.push_back(node);
  }
  *candidates = std::move(kept);
  return tensorflow::OkStatus();
}

}  // namespace

absl::Status MarkCandidates(PassContext* context) {
  CandidateRules rules(context);
  std::vector<Node*> candidates;
  const std::string* hpu = nullptr;
  for (const Node* node : (*context->graph)->op_nodes()) {
    if (hpu == nullptr && IsOnHpu(*node)) hpu = &node->assigned_device_name();
  }
  for (Node* node : (*context->graph)->op_nodes()) {
    context->report.set_nodes(context->report.nodes() + 1);
    if (hpu != nullptr && FactsOf(node->type_string()).result_size == ResultSize::kBounded && !IsOnHpu(*node) &&
        !IsPinnedToOtherDevice(*node)) {
      // The node has no HPU kernel, but a cluster may contain it.
      node->AddAttr(kMovedFromAttr, node->assigned_device_name());
      node->set_assigned_device_name(*hpu);
    }
    if (!IsOnHpu(*node)) continue;
    context->report.set_hpu_nodes(context->report.hpu_nodes() + 1);
    if (node->attrs().Find(kRefusalAttr) != nullptr) continue;  // RecordPlacement has reported the reason
    if (node->IsFunctionCall() && MustCompile(*node, *context->library)) {
      if (const auto reason = WhyAlone(*node, *context)) {
        SetAlone(node, *reason);
      } else {
        node->AddAttr(kJitCallAttr, true);
        candidates.push_back(node);
      }
      continue;
    }
    if (const auto refusal = rules.Refuse(*node)) {
      VLOG(2) << node->name() << " (" << node->type_string() << ") stays outside clusters by rule "
              << NameOf(refusal->rule) << ": " << refusal->reason;
      AddRefusal(&context->report, node->name(), node->type_string(), refusal->rule, refusal->reason);
    } else {
      candidates.push_back(node);
    }
  }
  HPU_RETURN_IF_ERROR(RefuseChangingConstants(context, &candidates));
  for (Node* node : candidates) node->AddAttr(kCandidateAttr, true);
  VLOG(1) << context->graph_name << ": " << candidates.size() << " of " << context->report.hpu_nodes()
          << " nodes on the HPU may be in clusters";
  return absl::OkStatus();
}

}  // namespace hpu::passes
