// Confinement of processes that run clients' programs: seccomp, no new privileges, resource limits.
#ifndef HPU_PLUGIN_SERVER_CONFINEMENT_H_
#define HPU_PLUGIN_SERVER_CONFINEMENT_H_

#include <chrono>
#include <cstdint>

#include "absl/status/status.h"

namespace hpu::serve {

// A confined process cannot open files, make connections, start programs or inspect other processes: the system call
// fails with EPERM. The process keeps its open files and sockets and can allocate memory. The role decides whether the
// process can create processes.
enum class Role {
  kForks,    // may fork processes
  kComputes  // may start threads only
};

// Confines all threads of this process permanently. A process confined as kForks may be confined further as kComputes.
// Fails with Unimplemented if the kernel has no seccomp.
absl::Status Confine(Role role);

// Isolates this process. The kernel prefers to kill this process when memory is short, and other processes of this user
// cannot inspect it. The process writes no core file, and its threads are one group for the scheduler.
void IsolateProcess();

// Limits this process's private writable memory.
void LimitMemory(uint64_t bytes);
// Ends this process after it has used `more` additional processor time.
void LimitProcessorTime(std::chrono::seconds more);

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVER_CONFINEMENT_H_
