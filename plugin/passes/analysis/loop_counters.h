// What a loop's condition says of its counters.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_LOOP_COUNTERS_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_LOOP_COUNTERS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "plugin/passes/analysis/known_numbers.h"
#include "tensorflow/core/common_runtime/function_body.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Whole numbers from `least` to `most`, both included; none where `most` is less.
struct Range {
  int64_t least, most;
};

// Counters are values of a loop that each turn moves by the same number, and that the condition, or a part of it that
// must hold, compares with a number that stays.
class LoopCounters {
 public:
  // Reads the functions that `loop` names as "cond" and "body".
  LoopCounters(const tensorflow::Node& loop, const tensorflow::FunctionBody& condition,
               const tensorflow::FunctionBody& body, KnownNumbers* known);

  // How often the loop turns at most; nothing where no counter says so.
  std::optional<int64_t> MostTurns() const;

  // What the loop's value number `value` is at the begin of a turn; nothing if it is no counter.
  std::optional<Range> RangeOf(int value) const;

 private:
  struct Counter {
    int value;
    Range range;
    int64_t step;
  };

  const std::vector<Counter> counters_;

  class Finder;
};

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_LOOP_COUNTERS_H_
