// Program and Recipe: what a backend compiles, and what comes out.
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
  std::string name;  // cluster's name, for messages; no part of the result
  // Serialised xla::HloModuleProto: the one program format that backends get. The entry computation takes flat array
  // parameters and returns a flat tuple; its input_output_alias (may-alias only) names results that may take the place
  // of a parameter.
  std::string hlo;
};

// A result of a recipe.
struct ResultSpec {
  TensorSpec spec;
  // The argument whose memory this result takes, or -1. The caller passes the same address for both.
  int32_t aliased_argument = -1;
};

// The time that one instruction of a recipe has taken, over all launches.
struct InstructionTime {
  std::string instruction;  // its name in the backend's program
  std::string kind;         // "loop fusion", "dot"; the kernel's name where it calls one
  std::string op;           // the graph's op that it was made for, or the last one of several; empty if unknown
  std::string op_type;      // of that op
  double seconds = 0;
};

// A compiled program, ready to be launched on the device that made or loaded it. Immutable and thread safe; streams
// keep it alive while launches of it are queued.
class Recipe {
 public:
  virtual ~Recipe() = default;

  Recipe(const Recipe&) = delete;
  Recipe& operator=(const Recipe&) = delete;

  virtual const std::string& name() const = 0;
  virtual const std::vector<TensorSpec>& arguments() const = 0;
  virtual const std::vector<ResultSpec>& results() const = 0;
  // Bytes of scratch device memory that a launch needs; 0 for none. Its contents carry nothing between launches.
  virtual uint64_t workspace_bytes() const = 0;
  // Everything Device::LoadRecipe needs, on the same kind of device and the same version of the backend.
  virtual absl::StatusOr<std::string> Serialize() const = 0;
  // Bytes of what Serialize gives, without making it; 0 if it gives none.
  virtual uint64_t serialized_bytes() const = 0;
  // In the order in which they run; none unless the backend was told to time them (HPU_EMULATOR_PROFILE).
  virtual std::vector<InstructionTime> times() const { return {}; }

 protected:
  Recipe() = default;
};

}  // namespace hpu::hal

#endif  // HPU_PLUGIN_HAL_RECIPE_H_
