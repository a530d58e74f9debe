// The compile worker: a process that compiles programs of a device server's clients.
#ifndef HPU_PLUGIN_SERVER_COMPILE_WORKERS_COMPILE_WORKER_H_
#define HPU_PLUGIN_SERVER_COMPILE_WORKERS_COMPILE_WORKER_H_

#include <chrono>

#include "plugin/hal/backend.h"

namespace hpu::serve {

// Compiles the programs that come on `socket`, and ends the process as soon as its other end is closed, in the middle
// of a compilation too. A program may take `timeout` of each processor. `confine`: whether the process gives up files,
// network and processes (confinement.h). Holds no device.
[[noreturn]] void RunCompileWorker(hal::Backend& backend, int socket, std::chrono::seconds timeout, bool confine);

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVER_COMPILE_WORKERS_COMPILE_WORKER_H_
