// A name-independent form of a program, to be hashed and compared.
#ifndef HPU_PLUGIN_RECIPES_FINGERPRINT_H_
#define HPU_PLUGIN_RECIPES_FINGERPRINT_H_

#include <string>

#include "absl/status/statusor.h"
#include "plugin/hal/recipe.h"

namespace hpu {

// The program without what differs between equal programs: module, computation and instruction names, source metadata,
// and the numbers that ids happen to have. Equal canonical forms compute the same. InvalidArgument if `program.hlo`
// does not parse.
absl::StatusOr<std::string> CanonicalForm(const hal::Program& program);

}  // namespace hpu

#endif  // HPU_PLUGIN_RECIPES_FINGERPRINT_H_
