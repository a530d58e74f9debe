// What programs of clients may hold.
#ifndef HPU_PLUGIN_SERVE_PROGRAM_CHECK_H_
#define HPU_PLUGIN_SERVE_PROGRAM_CHECK_H_

#include "absl/status/status.h"
#include "plugin/hal/recipe.h"

namespace hpu::serve {

// A custom call runs a function of the server's process by its name, whichever that is: only those pass that XLA
// replaces by plain operations. Nor may a program wait for the host or for other devices. InvalidArgument for these and
// for what is no serialised HloModuleProto.
absl::Status CheckProgram(const hal::Program& program);

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVE_PROGRAM_CHECK_H_
