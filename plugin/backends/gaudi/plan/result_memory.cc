#include "plugin/backends/gaudi/plan/result_memory.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/gaudi/guids/guid_table.h"
#include "plugin/base/status_macros.h"

namespace hpu::gaudi {
namespace {

absl::string_view Stem(const PlanNode& node) {
  const std::optional<GuidMatch> match = FindGuid(node.guid);
  return match.has_value() ? absl::string_view(match->guid->stem.data(), match->guid->stem.size())
                           : absl::string_view(node.guid);
}

// Whether the graph compiler may compute the node without a copy, so that the result shares the operand's memory.
bool IsView(absl::string_view stem) {
  static const auto* const views = new absl::flat_hash_set<absl::string_view>(
      {"reshape", "slice", "broadcast", "transpose", "split", "squeeze", "expand_dims", "strided_view", "identity",
       "reinterpret_cast", "flatten"});
  return views->contains(stem);
}

// Whether the kernel computes each element of the result from the operands' elements at the same position.
bool IsElementwise(absl::string_view stem) {
  static const auto* const elementwise = new absl::flat_hash_set<absl::string_view>(
      {"add_fwd",  "sub_fwd",     "mult_fwd",        "div_fwd",        "max_fwd",         "min_fwd", "where_fwd",
       "pow_fwd",  "neg_fwd",     "abs_fwd",         "sqrt_fwd",       "rsqrt_fwd",       "exp_fwd", "log_fwd",
       "tanh_fwd", "sigmoid_fwd", "bitwise_and_fwd", "bitwise_or_fwd", "bitwise_xor_fwd", "memcpy"});
  return elementwise->contains(stem);
}

class AliasOrder {
 public:
  explicit AliasOrder(GraphPlan* plan)
      : plan_(plan), readers_(plan->tensors.size()), writer_(plan->tensors.size(), -1) {
    for (size_t i = 0; i < plan->nodes.size(); ++i) Index(static_cast<int32_t>(i));
    followers_.resize(plan->nodes.size());
  }

  void Order(TensorId argument, TensorId result) {
    std::vector<int32_t> readers;
    AddReaders(argument, &readers);
    std::sort(readers.begin(), readers.end());
    readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
    int32_t writer = writer_[result];
    if (!MayWriteInPlace(writer, argument, readers) || ReachesAny(writer, readers)) writer = AddCopy(result);
    for (const int32_t reader : readers) {
      if (reader == writer) continue;
      plan_->nodes[writer].after.push_back(reader);
      followers_[reader].push_back(writer);
    }
  }

 private:
  void Index(int32_t node) {
    for (const TensorId operand : plan_->nodes[node].operands) {
      if (operand != kNoTensor) readers_[operand].push_back(node);
    }
    for (const TensorId result : plan_->nodes[node].results) {
      if (result != kNoTensor) writer_[result] = node;
    }
  }

  // Nodes that read the tensor's memory, also through views.
  void AddReaders(TensorId tensor, std::vector<int32_t>* readers) const {
    for (const int32_t node : readers_[tensor]) {
      readers->push_back(node);
      if (!IsView(Stem(plan_->nodes[node]))) continue;
      for (const TensorId view : plan_->nodes[node].results) AddReaders(view, readers);
    }
  }

  // Whether the writer does not read the argument, or reads each element before it overwrites the element.
  bool MayWriteInPlace(int32_t writer, TensorId argument, const std::vector<int32_t>& readers) const {
    if (!std::binary_search(readers.begin(), readers.end(), writer)) return true;
    const PlanNode& node = plan_->nodes[writer];
    if (!IsElementwise(Stem(node)) || node.results.size() != 1) return false;
    const Sizes& sizes = plan_->tensors[node.results.front()].sizes;
    for (const TensorId operand : node.operands) {
      if (operand != argument && plan_->tensors[operand].role != TensorRole::kArgument && IsViewOf(operand, argument)) {
        return false;
      }
    }
    return plan_->tensors[argument].sizes == sizes;
  }

  bool IsViewOf(TensorId tensor, TensorId argument) const {
    while (tensor != argument) {
      const int32_t node = writer_[tensor];
      if (node < 0 || !IsView(Stem(plan_->nodes[node]))) return false;
      tensor = plan_->nodes[node].operands.front();
    }
    return true;
  }

  bool ReachesAny(int32_t from, const std::vector<int32_t>& nodes) const {
    if (nodes.empty()) return false;
    std::vector<bool> seen(plan_->nodes.size());
    std::vector<int32_t> open = {from};
    while (!open.empty()) {
      const int32_t node = open.back();
      open.pop_back();
      const auto visit = [&](int32_t next) {
        if (seen[next]) return;
        seen[next] = true;
        open.push_back(next);
      };
      for (const TensorId result : plan_->nodes[node].results) {
        if (result == kNoTensor) continue;
        for (const int32_t next : readers_[result]) visit(next);
      }
      for (const int32_t next : followers_[node]) visit(next);
    }
    return std::any_of(nodes.begin(), nodes.end(), [&](int32_t node) { return node != from && seen[node]; });
  }

  // Makes the writer of `result` write an internal tensor, and adds a node that copies this tensor to the result.
  // Returns the index of the new node.
  int32_t AddCopy(TensorId result) {
    const auto internal = static_cast<TensorId>(plan_->tensors.size());
    PlanTensor tensor = plan_->tensors[result];
    tensor.role = TensorRole::kInternal;
    tensor.number = -1;
    plan_->tensors.push_back(std::move(tensor));
    readers_.emplace_back();
    writer_.push_back(-1);
    const auto replace = [&](std::vector<TensorId>* tensors) {
      std::replace(tensors->begin(), tensors->end(), result, internal);
    };
    replace(&plan_->nodes[writer_[result]].results);
    for (const int32_t reader : readers_[result]) replace(&plan_->nodes[reader].operands);
    std::swap(readers_[internal], readers_[result]);
    std::swap(writer_[internal], writer_[result]);
    PlanNode copy;
    copy.guid = "memcpy";
    copy.operands = {internal};
    copy.results = {result};
    plan_->nodes.push_back(std::move(copy));
    followers_.emplace_back();
    const auto node = static_cast<int32_t>(plan_->nodes.size() - 1);
    Index(node);
    return node;
  }

  GraphPlan* const plan_;
  std::vector<std::vector<int32_t>> readers_;    // by tensor
  std::vector<int32_t> writer_;                  // by tensor; -1: none
  std::vector<std::vector<int32_t>> followers_;  // by node: nodes ordered after it without a data dependency
};

}  // namespace

absl::Status PlaceResults(const std::vector<TensorId>& values, const ProgramTable& table, PlanBuilder* builder) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == kNoTensor) continue;
    TensorId value = builder->Storage(values[i]);
    const PlanTensor& tensor = builder->tensor(value);
    if (tensor.role == TensorRole::kArgument && tensor.number == table.results[i].aliased_argument) continue;
    if (tensor.role != TensorRole::kInternal) {
      HPU_ASSIGN_OR_RETURN(value, builder->AddCopy(value));
    }
    builder->MakeResult(value, static_cast<int32_t>(i));
  }
  return absl::OkStatus();
}

absl::Status OrderAliases(const ProgramTable& table, GraphPlan* plan) {
  std::vector<TensorId> arguments(table.arguments.size(), kNoTensor);
  std::vector<std::pair<TensorId, TensorId>> aliases;
  for (size_t i = 0; i < plan->tensors.size(); ++i) {
    const PlanTensor& tensor = plan->tensors[i];
    if (tensor.role == TensorRole::kArgument) arguments[tensor.number] = static_cast<TensorId>(i);
  }
  for (size_t i = 0; i < plan->tensors.size(); ++i) {
    const PlanTensor& tensor = plan->tensors[i];
    if (tensor.role != TensorRole::kResult) continue;
    const int32_t argument = table.results[tensor.number].aliased_argument;
    if (argument >= 0 && arguments[argument] != kNoTensor) {
      aliases.emplace_back(arguments[argument], static_cast<TensorId>(i));
    }
  }
  AliasOrder order(plan);
  for (const auto& [argument, result] : aliases) order.Order(argument, result);
  return absl::OkStatus();
}

}  // namespace hpu::gaudi
