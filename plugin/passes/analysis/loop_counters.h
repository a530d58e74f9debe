// Ranges of loop counters, derived from the loop's condition.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_LOOP_COUNTERS_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_LOOP_COUNTERS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "plugin/compat/function_bodies.h"
#include "plugin/passes/analysis/known_numbers.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Integers from `min` to `max`, inclusive; empty if `max` < `min`. With `limit`, `max` is relative to the only result
// of this node outside the loop, an int32 number.
struct Range {
  int64_t min, max;
  const tensorflow::Node* limit = nullptr;
};

// A counter is a loop value that changes by the same amount in each iteration. The loop's condition, one operand of a
// LogicalAnd in the condition, or one operand of autograph's `and` compares the counter with a loop-invariant number.
class LoopCounters {
 public:
  // `condition` and `body` are the functions in the attributes "cond" and "body" of `loop`.
  LoopCounters(const tensorflow::Node& loop, const tensorflow::FunctionBody& condition,
               const tensorflow::FunctionBody& body, KnownNumbers* known);

  // Upper bound of the number of iterations; nullopt if the loop has no counter.
  std::optional<int64_t> MaxIterations() const;

  // A node outside the loop whose only result, an int32 number, is an upper bound of the number of iterations; null if
  // there is none. The number may be negative.
  const tensorflow::Node* LimitOfIterations() const;

  // The invariant loop values that a counter is compared with, and that end the loop.
  const std::vector<int>& LimitingValues() const { return limits_; }

  // By how much a counter changes in each iteration; 0 if the loop value is not a counter.
  int64_t StepOf(int value) const;

  // The range of loop value `value` at the start of an iteration; nullopt if the loop value is not a counter.
  std::optional<Range> RangeOf(int value) const;

 private:
  struct Counter {
    int value;
    Range range;
    int64_t step;
  };

  class Finder;
  explicit LoopCounters(Finder finder);

  const std::vector<Counter> counters_;
  const std::vector<int> limits_;
};

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_LOOP_COUNTERS_H_
