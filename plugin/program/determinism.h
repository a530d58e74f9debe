// Determinism: a mark for programs whose results must be equal in every run.
#ifndef HPU_PLUGIN_PROGRAM_DETERMINISM_H_
#define HPU_PLUGIN_PROGRAM_DETERMINISM_H_

#include "xla/service/hlo.pb.h"

namespace hpu {

inline constexpr char kDeterministicAttribute[] = "hpu_deterministic";

// Marks `program`. A backend that usually adds in a varying order must use a fixed order for a marked program. The mark
// is part of the program, and therefore of the recipe's key.
inline void RequireDeterminism(xla::HloModuleProto* program) {
  (*program->mutable_frontend_attributes()->mutable_map())[kDeterministicAttribute] = "true";
}

// `attributes`: of the program.
inline bool RequiresDeterminism(const xla::FrontendAttributes& attributes) {
  return attributes.map().count(kDeterministicAttribute) > 0;
}
inline bool RequiresDeterminism(const xla::HloModuleProto& program) {
  return RequiresDeterminism(program.frontend_attributes());
}

}  // namespace hpu

#endif  // HPU_PLUGIN_PROGRAM_DETERMINISM_H_
