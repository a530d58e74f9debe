// What programs in canonical form (fingerprint.h) hold, in words for people.
#ifndef HPU_PLUGIN_RECIPES_PROGRAM_DIFFERENCE_H_
#define HPU_PLUGIN_RECIPES_PROGRAM_DIFFERENCE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace hpu {

// Instructions of all computations; 0 if the program cannot be read.
int64_t CountInstructions(const std::string& program);

// How `now` differs from `before`, the arguments first: a few lines like "parameter 1: shape.dimensions[0]: 8 -> 16".
// Where the programs have other instructions, only their number by kind. Empty for equal programs.
std::vector<std::string> Differences(const std::string& before, const std::string& now);

}  // namespace hpu

#endif  // HPU_PLUGIN_RECIPES_PROGRAM_DIFFERENCE_H_
