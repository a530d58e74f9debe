// Validation of clients' programs before compilation.
#ifndef HPU_PLUGIN_SERVER_COMPILE_WORKERS_PROGRAM_CHECK_H_
#define HPU_PLUGIN_SERVER_COMPILE_WORKERS_PROGRAM_CHECK_H_

#include "absl/status/status.h"
#include "plugin/hal/recipe.h"

namespace hpu::serve {

// Reduces a client's program to its computation; nothing else reaches the compiler.
//
// Only listed operations are accepted. Communication and operations that only XLA's own passes insert are rejected. A
// custom call would run a function of the server's process by name. Therefore a custom call is accepted only if XLA or
// the backend replaces its target. Fields that XLA trusts without a check are removed. These are annotations of earlier
// passes (backend_config, schedules, sharding), non-default layouts, and attributes other than the backend's. Fails
// with InvalidArgument for rejected operations and for data that is not a serialised HloModuleProto; the program is
// then unchanged.
absl::Status ScreenProgram(hal::Program* program);

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVER_COMPILE_WORKERS_PROGRAM_CHECK_H_
