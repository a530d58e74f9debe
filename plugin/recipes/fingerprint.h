// Canonical, name-independent form of a program, for hashing and comparison.
#ifndef HPU_PLUGIN_RECIPES_FINGERPRINT_H_
#define HPU_PLUGIN_RECIPES_FINGERPRINT_H_

#include <string>

#include "absl/status/statusor.h"
#include "plugin/hal/recipe.h"

namespace hpu::recipes {

// The program without details that differ between equal programs: names of modules, computations, instructions and
// parameters, source metadata, and the values of ids. Programs with equal canonical forms compute equal results.
// InvalidArgument if `program.hlo` does not parse.
absl::StatusOr<std::string> CanonicalForm(const hal::Program& program);

}  // namespace hpu::recipes

#endif  // HPU_PLUGIN_RECIPES_FINGERPRINT_H_
