// Compile worker: process that compiles programs for the clients of a device server.
#ifndef HPU_PLUGIN_SERVER_COMPILE_WORKERS_COMPILE_WORKER_H_
#define HPU_PLUGIN_SERVER_COMPILE_WORKERS_COMPILE_WORKER_H_

#include <chrono>

#include "plugin/hal/backend.h"

namespace hpu::serve {

// Compiles the programs that arrive on `socket`. Ends the process as soon as the other end is closed, even during a
// compilation. A program may use processor time of `timeout` times the number of processors. `confine`: whether the
// process confines itself (confinement.h). Does not acquire a device.
[[noreturn]] void RunCompileWorker(hal::Backend& backend, int socket, std::chrono::seconds timeout, bool confine);

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVER_COMPILE_WORKERS_COMPILE_WORKER_H_
