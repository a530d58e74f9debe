// Program and Recipe: input and output of a backend's compiler.
#ifndef HPU_PLUGIN_HAL_RECIPE_H_
#define HPU_PLUGIN_HAL_RECIPE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/hal/types.h"

namespace hpu::hal {

// Input of Device::Compile.
struct Program {
  std::string name;  // cluster's name, for messages; does not affect the result
  // Serialised xla::HloModuleProto, the only program format of backends. The entry computation takes flat array
  // parameters and returns a flat tuple. Its input_output_alias (may-alias only) names results that may reuse a
  // parameter's memory.
  std::string hlo;
};

// A result of a recipe.
struct ResultSpec {
  TensorSpec spec;
  // The argument whose memory this result reuses, or -1. The caller passes the same address for argument and result.
  int32_t aliased_argument = -1;
};

// Run time of one instruction of a recipe, over all launches.
struct InstructionTime {
  std::string instruction;  // name of the instruction in the backend's program
  std::string kind;         // "loop fusion", "dot"; for a kernel call, the kernel's name
  std::string op;           // graph op (the last of several fused ops); empty if unknown
  std::string op_type;      // type of `op`
  double seconds = 0;
};

// A tensor in device memory during a launch of a recipe.
struct LaunchBuffer {
  enum class Kind : uint8_t { kArgument = 0, kResult = 1, kWorkspace = 2 };
  Kind kind = Kind::kWorkspace;
  std::string instruction;  // instruction that computes the tensor, in the backend's program
  std::string op;           // graph op (the last of several fused ops); empty if unknown
  std::string op_type;      // type of `op`
  std::string shape;        // as XLA prints it: "f32[128,512]"
  uint64_t bytes = 0;
  // Positions in execution order at which the tensor is written and last read. An argument begins at 0, and arguments
  // and results end at the program's end.
  int64_t begin = 0;
  int64_t end = 0;
};

// A compiled program, ready to be launched on the device that compiled or loaded it. Immutable and thread safe. Streams
// keep a recipe alive while launches of the recipe are queued.
class Recipe {
 public:
  virtual ~Recipe() = default;

  Recipe(const Recipe&) = delete;
  Recipe& operator=(const Recipe&) = delete;

  virtual const std::string& name() const = 0;
  virtual const std::vector<TensorSpec>& arguments() const = 0;
  virtual const std::vector<ResultSpec>& results() const = 0;
  // Bytes of scratch device memory that a launch needs; 0 for none. The contents are not preserved between launches.
  virtual uint64_t workspace_bytes() const = 0;
  // The recipe as bytes for Device::LoadRecipe, on devices with the same compiler_target.
  virtual absl::StatusOr<std::string> Serialize() const = 0;
  // Size of Serialize's result in bytes, computed without serialisation; 0 if Serialize fails.
  virtual uint64_t serialized_bytes() const = 0;
  // Run times in execution order. Empty unless the backend times instructions (HPU_EMULATOR_PROFILE).
  virtual std::vector<InstructionTime> times() const { return {}; }
  // The largest tensors of a launch, largest first. Empty unless the backend records them.
  virtual std::vector<LaunchBuffer> buffers() const { return {}; }

 protected:
  Recipe() = default;
};

}  // namespace hpu::hal

#endif  // HPU_PLUGIN_HAL_RECIPE_H_
