// What programs of clients may hold.
#ifndef HPU_PLUGIN_SERVER_COMPILE_WORKERS_PROGRAM_CHECK_H_
#define HPU_PLUGIN_SERVER_COMPILE_WORKERS_PROGRAM_CHECK_H_

#include "absl/status/status.h"
#include "plugin/hal/recipe.h"

namespace hpu::serve {

// Makes a client's program one that says nothing to the compiler but what it computes.
//
// Only operations on a list pass: no communication, none that XLA's own passes alone put in, and of custom calls, which
// run a function of the server's process by its name, those alone that XLA or the backend replaces. What XLA believes
// about a program without a check goes: notes of earlier passes (backend_config, schedules, sharding), layouts other
// than the default, marks other than the backend's own. InvalidArgument for the rest and for what is no serialised
// HloModuleProto; the program is then left as it was.
absl::Status ScreenProgram(hal::Program* program);

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVER_COMPILE_WORKERS_PROGRAM_CHECK_H_
