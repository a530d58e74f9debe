#include "plugin/passes/analysis/loop_counters.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>

#include "plugin/passes/functions/loop_functions.h"
#include "plugin/passes/graph/graph_util.h"

namespace hpu::passes {

using tensorflow::FunctionBody;
using tensorflow::Node;

class LoopCounters::Finder {
 public:
  Finder(const Node& loop, const FunctionBody& condition, const FunctionBody& body, KnownNumbers* known)
      : loop_(loop), condition_(condition), body_(body), known_(known) {
    AddFrom(SourceOf(*condition_.ret_nodes[0], 0), {});
  }

  std::vector<Counter>& counters() { return counters_; }
  std::vector<int>& limits() { return limits_; }

 private:
  // Where the operands of a test come from: the condition itself, or a branch in it.
  struct Scope {
    const Node* branch = nullptr;            // an If in the condition; null for the condition
    const FunctionBody* function = nullptr;  // the If's function
  };

  // The operand of a test as a node of the condition, or as a constant of the scope.
  static const Node* Operand(const Node& test, int input, const Scope& scope) {
    const Node* const source = SourceOf(test, input);
    const int argument = scope.branch == nullptr || source == nullptr ? -1 : LoopValueOf(*scope.function, source);
    return argument < 0 ? source : SourceOf(*scope.branch, argument + 1);
  }

  // `a and b` in autograph's loops, and `break`, are an If with the condition `a`: b is computed in its first function,
  // and the other function returns false.
  void AddFromBranch(const Node& branch) {
    AddFrom(SourceOf(branch, 0), {});
    const auto functions = BranchFunctions(branch, condition_.graph->flib_def());
    if (!functions.ok() || functions->size() != 2) return;
    const FunctionBody &if_true = *(*functions)[0], &if_false = *(*functions)[1];
    const Node* const otherwise = SourceOf(*if_false.ret_nodes[0], 0);
    if (!ReturnsFalse(branch, if_false, otherwise)) return;
    AddFrom(SourceOf(*if_true.ret_nodes[0], 0), {&branch, &if_true});
  }

  // Whether a result of the function that runs if the branch's condition is false is false.
  static bool ReturnsFalse(const Node& branch, const FunctionBody& function, const Node* result) {
    if (result == nullptr) return false;
    if (const int argument = LoopValueOf(function, result); argument >= 0) {
      return SourceOf(branch, argument + 1) == SourceOf(branch, 0);
    }
    const std::optional<tensorflow::Tensor> value = ConstantOf(*result);
    return value.has_value() && value->dtype() == tensorflow::DT_BOOL && value->NumElements() == 1 &&
           !value->flat<bool>()(0);
  }

  void AddFrom(const Node* holds, const Scope& scope) {
    if (holds == nullptr) return;
    const std::string& op = holds->type_string();
    if (op == "LogicalAnd") {
      AddFrom(SourceOf(*holds, 0), scope);
      AddFrom(SourceOf(*holds, 1), scope);
    }
    if (holds->IsIfNode() && scope.branch == nullptr && holds->num_outputs() == 1) AddFromBranch(*holds);
    const bool less = op == "Less" || op == "LessEqual", greater = op == "Greater" || op == "GreaterEqual";
    if (!less && !greater) return;
    const bool or_equal = op == "LessEqual" || op == "GreaterEqual";
    const Node *const left = Operand(*holds, 0, scope), *const right = Operand(*holds, 1, scope);
    AddComparison(left, right, less, or_equal);
    AddComparison(right, left, !less, or_equal);
  }

  // Records `number` if the condition makes it a counter. While the loop runs, `number` is less (or greater) than
  // `limit`, or equal to `limit` with `or_equal`.
  void AddComparison(const Node* number, const Node* limit, bool less, bool or_equal) {
    const int value = LoopValueOf(condition_, number);
    if (value < 0) return;
    const std::optional<int64_t> first = known_->Scalar(SourceOf(loop_, value)), step = StepOf(value);
    if (!first.has_value() || !step.has_value() || *step == 0 || (*step > 0) != less) return;
    const std::optional<int64_t> end = Fixed(condition_, limit);
    if (!end.has_value()) {
      const int limiting = LoopValueOf(condition_, limit);
      if (limiting < 0 || !IsInvariant(body_, limiting)) return;
      limits_.push_back(limiting);
      const Node* const source = less && !or_equal ? LimitOutside(limiting) : nullptr;
      if (source != nullptr) counters_.push_back({value, Range{*first, -1, source}, *step});
      return;
    }
    const int64_t last = or_equal ? *end : less ? *end - 1 : *end + 1;
    const Counter counter{value, less ? Range{*first, last} : Range{last, *first}, *step};
    // The first value that fails the condition must fit in int32, or the counter would wrap around.
    if (std::abs(last + *step) <= std::numeric_limits<int32_t>::max()) counters_.push_back(counter);
  }

  // The node that computes an invariant outside the loop; null if it has several results.
  const Node* LimitOutside(int value) const {
    const Node* const source = SourceOf(loop_, value);
    const bool single =
        source != nullptr && source->num_outputs() == 1 && source->output_type(0) == tensorflow::DT_INT32;
    return single ? source : nullptr;
  }

  // The value of `number` if it is a constant or a loop invariant in one of the loop's functions.
  std::optional<int64_t> Fixed(const FunctionBody& function, const Node* number) const {
    const int value = LoopValueOf(function, number);
    if (value < 0) return ConstantScalar(number);
    return IsInvariant(body_, value) ? known_->Scalar(SourceOf(loop_, value)) : std::nullopt;
  }

  std::optional<int64_t> StepOf(int value) const {
    const Node* const next = SourceOf(*body_.ret_nodes[value], 0);
    const Node* const now = body_.arg_nodes[value];
    if (next == nullptr) return std::nullopt;
    const Sum sum = SumOf(*next);
    if (sum.source == now) return sum.added;
    // tf.range passes its step as a loop invariant.
    if ((next->type_string() != "AddV2" && next->type_string() != "Add") || SourceOf(*next, 0) != now) {
      return std::nullopt;
    }
    return Fixed(body_, SourceOf(*next, 1));
  }

  const Node& loop_;
  const FunctionBody& condition_;
  const FunctionBody& body_;
  KnownNumbers* const known_;
  std::vector<Counter> counters_;
  std::vector<int> limits_;
};

LoopCounters::LoopCounters(const Node& loop, const FunctionBody& condition, const FunctionBody& body,
                           KnownNumbers* known)
    : LoopCounters(Finder(loop, condition, body, known)) {}

LoopCounters::LoopCounters(Finder finder)
    : counters_(std::move(finder.counters())), limits_(std::move(finder.limits())) {}

std::optional<int64_t> LoopCounters::MaxIterations() const {
  std::optional<int64_t> max;
  for (const Counter& counter : counters_) {
    if (counter.range.limit != nullptr) continue;
    const int64_t size = std::max<int64_t>(0, counter.range.max - counter.range.min + 1);
    const int64_t step = std::abs(counter.step), turns = (size + step - 1) / step;
    max = std::min(max.value_or(turns), turns);
  }
  return max;
}

const Node* LoopCounters::LimitOfIterations() const {
  for (const Counter& counter : counters_) {
    if (counter.range.limit != nullptr && counter.range.min >= 0) return counter.range.limit;
  }
  return nullptr;
}

int64_t LoopCounters::StepOf(int value) const {
  for (const Counter& counter : counters_) {
    if (counter.value == value) return counter.step;
  }
  return 0;
}

std::optional<Range> LoopCounters::RangeOf(int value) const {
  for (const Counter& counter : counters_) {
    if (counter.value == value) return counter.range;
  }
  return std::nullopt;
}

}  // namespace hpu::passes
