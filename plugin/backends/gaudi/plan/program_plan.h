// ProgramPlan: a program as a list of steps over shared memory. Loops that are not unrolled are steps; the other
// instructions form graphs.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_PLAN_PROGRAM_PLAN_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_PLAN_PROGRAM_PLAN_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "plugin/backends/gaudi/plan/graph_plan.h"
#include "plugin/program/program_table.h"

namespace hpu::gaudi {

// Memory that graphs of a program read or write. A result that aliases an argument is the argument's memory.
struct ProgramMemory {
  enum class Kind {
    kArgument,
    kResult,
    kBuffer,  // part of the launch's workspace: a loop's state, or a value that several graphs use
  };

  Kind kind = Kind::kBuffer;
  int32_t number = -1;  // of the argument or result
  uint64_t offset = 0;  // of a buffer, in the workspace
  uint64_t bytes = 0;   // not 0
  bool is_written = false;
};

// Index in ProgramPlan::memory.
using MemoryId = int32_t;
inline constexpr MemoryId kNoMemory = -1;  // of an empty array

// A launch of a graph, or a loop.
struct Step {
  int32_t graph = -1;  // index of the graph; -1: a loop
  // Of a loop. Before each iteration, the host reads the predicate, one byte: 0 ends the loop. If `count` is set, the
  // loop has that many iterations, and no predicate is read.
  MemoryId predicate = kNoMemory;
  std::optional<uint64_t> count;
  std::vector<Step> body;
};

// The instructions before, between or after loops, as a graph. The graph's arguments and results are memory of the
// program.
struct SegmentPlan {
  GraphPlan graph;     // has nodes
  ProgramTable table;  // sizes in bytes, and aliases, of the graph's arguments and results
  std::vector<MemoryId> arguments;
  std::vector<MemoryId> results;
};

struct ProgramPlan {
  std::vector<ProgramMemory> memory;
  uint64_t buffer_bytes = 0;  // of all buffers, a multiple of the device's alignment
  std::vector<SegmentPlan> segments;
  std::vector<Step> steps;  // Step::graph is an index of `segments`
};

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_PLAN_PROGRAM_PLAN_H_
