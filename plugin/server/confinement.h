// Confinement: what the processes that run clients' programs give up (seccomp, no new privileges, resource limits).
#ifndef HPU_PLUGIN_SERVER_CONFINEMENT_H_
#define HPU_PLUGIN_SERVER_CONFINEMENT_H_

#include <chrono>
#include <cstdint>

#include "absl/status/status.h"

namespace hpu::serve {

// A confined process opens no files, makes no connections, starts no programs and looks into no other process: the
// system call fails with EPERM. It uses the files and sockets that it has, memory and, as its role says, processes.
enum class Role {
  kForks,    // starts processes like itself
  kComputes  // starts threads alone
};

// Confines all threads of this process, for good. Roles add up: kComputes may follow kForks. Unimplemented where the
// kernel has no seccomp.
absl::Status Confine(Role role);

// A process that the kernel ends first when memory is short, that other processes of this user cannot inspect, that
// writes no core file, and whose threads share the processors with other sessions as one group.
void SetApart();

// Limits this process's private writable memory.
void LimitMemory(uint64_t bytes);
// Ends this process when it has used so much more processor time.
void LimitProcessorTime(std::chrono::seconds more);

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVER_CONFINEMENT_H_
