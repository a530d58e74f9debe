// Replacement of the XLA runtime function that splits a loop over threads.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OBJECT_FORK_JOIN_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OBJECT_FORK_JOIN_H_

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace hpu::emulator {

// Symbol of the XLA runtime function that generated code calls to run the parts of a loop.
inline constexpr char kForkJoinSymbol[] = "__xla_cpu_runtime_ParallelForkJoin";
// Address of the replacement, which runs on the pool of the thread's RecipeKernels::Scope. XLA's function queues all
// parts of the loop but one, and waits even for parts that no thread has started. In the replacement, the calling
// thread runs every part that no other thread has started.
void* ForkJoinAddress();

// A loop's code with the arguments of one call.
struct LoopCode {
  // Runs the iterations [begin, end) of the outermost dimension with a table of buffers. Thread safe.
  void Run(void** table, int64_t begin, int64_t end) const;

  // The signature of a loop's code. `bounds` holds the start and the end (exclusive) of each split dimension.
  using Function = void (*)(void* result, const void* options, const void** arguments, void** buffers, void* status,
                            int64_t* bounds, uint64_t* counters);
  Function function;
  void* result;
  const void* options;
  const void** arguments;
  void** buffers;
  void* status;
  uint64_t* counters;
};

// While a LoopDriver exists, the replacement calls `run` for each loop of the driver's thread instead of running the
// loop's parts. The loop must be split in one dimension.
class LoopDriver {
 public:
  using Run = absl::FunctionRef<void(const LoopCode& code)>;

  explicit LoopDriver(Run run);
  ~LoopDriver();
  LoopDriver(const LoopDriver&) = delete;
  LoopDriver& operator=(const LoopDriver&) = delete;

  // The calling thread's driver; null if there is none.
  static const LoopDriver* Current();
  void Drive(const LoopCode& code) const { run_(code); }

 private:
  const Run run_;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OBJECT_FORK_JOIN_H_
