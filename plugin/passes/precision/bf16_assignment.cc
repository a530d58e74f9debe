#include "plugin/passes/precision/bf16_assignment.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::Graph;
using tensorflow::Node;

enum class ConversionRule { kNever, kAlways, kConditional, kStrictConditional };

struct Role {
  ConversionRule rule = ConversionRule::kNever;
  const char* list = "";
};

// Conversion rule of each node, from the configuration's lists.
class Roles {
 public:
  explicit Roles(const Bf16Config& config) : config_(config) {
    // The first list that contains an op wins.
    for (const std::string& op : config.allowlist) by_op_.emplace(op, Role{ConversionRule::kAlways, "allowlist"});
    for (const std::string& op : config.conditional)
      by_op_.emplace(op, Role{ConversionRule::kConditional, "conditional_list"});
    for (const std::string& op : config.strict_conditional) {
      by_op_.emplace(op, Role{ConversionRule::kStrictConditional, "strict_conditional_list"});
    }
  }

  Role Of(const Node& node) const {
    const auto matches = [&](const Bf16Exception& exception) { return Matches(exception, node); };
    if (absl::c_any_of(config_.non_convertible, matches)) return {ConversionRule::kNever, "non_convertible_exceptions"};
    if (absl::c_any_of(config_.convertible, matches)) return {ConversionRule::kAlways, "convertible_exceptions"};
    const auto found = by_op_.find(node.type_string());
    if (found != by_op_.end()) return found->second;
    const auto plain = by_op_.find(PlainOp(node.type_string()));
    return plain == by_op_.end() ? Role() : plain->second;
  }

 private:
  // The TensorFlow op that a fused op contains. The rule of the TensorFlow op applies if no list contains the fused op.
  static std::string_view PlainOp(const std::string& op) {
    if (op == "HabanaBiasAddActivation") return "BiasAdd";
    if (op == "HabanaFusedBatchNormV3") return "FusedBatchNormV3";
    if (op == "HabanaConv2DWithPadding") return "Conv2D";
    if (op == "HabanaConv2DWithPaddingBackpropFilter") return "Conv2DBackpropFilter";
    if (op == "HabanaConv2DWithPaddingBackpropInput") return "Conv2DBackpropInput";
    return op;
  }

  static bool Matches(const Bf16Exception& exception, const Node& node) {
    if (!exception.op.empty() && exception.op != node.type_string()) return false;
    if (RE2::FullMatch(node.name(), *exception.name)) return true;
    // TensorFlow inlines calls before the passes run, and prefixes node names with the call's name.
    static const auto* call = new RE2("((Stateful)?PartitionedCall(_[0-9]+)?/)+(.*)");
    std::string inlined;
    return RE2::FullMatch(node.name(), *call, nullptr, nullptr, nullptr, &inlined) &&
           RE2::FullMatch(inlined, *exception.name);
  }

  const Bf16Config& config_;
  absl::flat_hash_map<std::string, Role> by_op_;
};

struct Candidate {
  std::optional<Bf16Types> types;  // nullopt: the node stays unchanged
  Role role;
  int waits_for = 0;  // strict conditional node: inputs that are not yet bfloat16, except stored values
  bool converted = false;
};

// Whether a node returns values that are stored in float32 and rounded for each use.
bool IsStored(const Node& node) { return node.IsConstant() || node.type_string() == "ReadVariableOp"; }

class Assignment {
 public:
  Assignment(const Graph& graph, const Bf16Config& config, const std::function<bool(const Node&)>& filter)
      : candidates_(graph.num_node_ids()) {
    const Roles roles(config);
    for (Node* node : graph.op_nodes()) {
      if (!filter(*node)) continue;
      Candidate& candidate = candidates_[node->id()];
      candidate.role = roles.Of(*node);
      if (candidate.role.rule != ConversionRule::kNever) candidate.types = FindBf16Types(*node);
      if (candidate.types) order_.push_back(node);
    }
  }

  std::vector<Bf16Conversion> Run() {
    for (const Node* node : order_) Start(*node);
    while (!fresh_.empty()) {
      const Node* node = fresh_.back();
      fresh_.pop_back();
      Spread(*node);
    }
    std::vector<Bf16Conversion> conversions;
    for (Node* node : order_) {
      Candidate& candidate = candidates_[node->id()];
      if (candidate.converted) conversions.push_back({node, *std::move(candidate.types), candidate.role.list});
    }
    return conversions;
  }

 private:
  void Convert(const Node& node) {
    Candidate& candidate = candidates_[node.id()];
    if (candidate.converted) return;
    candidate.converted = true;
    fresh_.push_back(&node);
  }

  void Start(const Node& node) {
    Candidate& candidate = candidates_[node.id()];
    if (candidate.role.rule == ConversionRule::kAlways) return Convert(node);
    if (candidate.role.rule != ConversionRule::kStrictConditional) return;
    for (const Edge* edge : node.in_edges()) {
      if (edge->IsControlEdge() || !candidate.types->inputs[edge->dst_input()]) continue;
      if (!IsStored(*edge->src())) ++candidate.waits_for;
    }
    if (candidate.waits_for == 0) Convert(node);
  }

  // Whether the edge's tensor would be bfloat16 after converting both nodes.
  bool Joins(const Edge& edge) const {
    if (edge.IsControlEdge()) return false;
    const auto& from = candidates_[edge.src()->id()].types;
    const auto& to = candidates_[edge.dst()->id()].types;
    return from && to && from->outputs[edge.src_output()] && to->inputs[edge.dst_input()];
  }

  // Converts the neighbours of a converted node, if the neighbours' lists allow the conversion.
  void Spread(const Node& node) {
    for (const Edge* edge : node.in_edges()) {
      if (!Joins(*edge)) continue;
      if (candidates_[edge->src()->id()].role.rule == ConversionRule::kConditional) Convert(*edge->src());
    }
    for (const Edge* edge : node.out_edges()) {
      if (!Joins(*edge)) continue;
      Candidate& consumer = candidates_[edge->dst()->id()];
      if (consumer.role.rule == ConversionRule::kConditional) Convert(*edge->dst());
      if (consumer.role.rule == ConversionRule::kStrictConditional && --consumer.waits_for == 0) Convert(*edge->dst());
    }
  }

  std::vector<Candidate> candidates_;  // candidate by node id
  std::vector<Node*> order_;           // convertible nodes
  std::vector<const Node*> fresh_;     // converted nodes whose neighbours have not been visited
};

}  // namespace

std::vector<Bf16Conversion> AssignBf16(const Graph& graph, const Bf16Config& config,
                                       const std::function<bool(const Node&)>& filter) {
  return Assignment(graph, config, filter).Run();
}

}  // namespace hpu::passes
