// Device memory of a recipe's launch: its parts, and a sentence about its largest tensors.
#ifndef HPU_PLUGIN_COMPILER_LAUNCH_MEMORY_H_
#define HPU_PLUGIN_COMPILER_LAUNCH_MEMORY_H_

#include <cstdint>
#include <string>

#include "plugin/hal/recipe.h"

namespace hpu {

// Bytes of device memory that a launch needs.
struct LaunchMemory {
  uint64_t arguments = 0;
  uint64_t results = 0;  // without results in the memory of an argument
  uint64_t workspace = 0;
};

LaunchMemory LaunchMemoryOf(const hal::Recipe& recipe);

// "Largest tensors: 3.8 MiB f32[1000,1000] of 'dense/MatMul' (MatMul, temporary), …" for errors of exhausted memory.
// Empty if the backend does not record the tensors of launches.
std::string LargestTensors(const hal::Recipe& recipe);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_LAUNCH_MEMORY_H_
