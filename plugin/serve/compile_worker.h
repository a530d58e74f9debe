// The compile worker: a process that compiles programs of a device server's clients.
#ifndef HPU_PLUGIN_SERVE_COMPILE_WORKER_H_
#define HPU_PLUGIN_SERVE_COMPILE_WORKER_H_

#include "plugin/hal/backend.h"

namespace hpu::serve {

// Compiles what the server at the other end of `socket` sends, and ends the process as soon as that is gone, from a
// compilation too. Holds no device.
[[noreturn]] void RunCompileWorker(hal::Backend& backend, int socket);

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVE_COMPILE_WORKER_H_
