// Differences between programs in canonical form (fingerprint.h), as readable text.
#ifndef HPU_PLUGIN_RECIPES_PROGRAM_DIFFERENCE_H_
#define HPU_PLUGIN_RECIPES_PROGRAM_DIFFERENCE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace hpu::recipes {

// Number of instructions in all computations; 0 if the program cannot be parsed.
int64_t CountInstructions(const std::string& program);

// Differences between `before` and `now`, arguments first: a few lines like "parameter 1: shape.dimensions[0]: 8 ->
// 16". If the sequences of opcodes differ, lists only the changes in instruction counts by opcode. Empty for equal
// programs.
std::vector<std::string> Differences(const std::string& before, const std::string& now);

}  // namespace hpu::recipes

#endif  // HPU_PLUGIN_RECIPES_PROGRAM_DIFFERENCE_H_
