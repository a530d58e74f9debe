// ThunkProgram: thunks of a program, with what a call needs.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_THUNKS_THUNK_PROGRAM_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_THUNKS_THUNK_PROGRAM_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "xla/backends/cpu/runtime/thunk.h"
#include "xla/service/cpu/cpu_executable.h"
#include "xla/stream_executor/device_address.h"

namespace hpu::emulator {

// Place of a result: an offset in bytes in an allocation of XLA's buffer assignment.
struct ResultPlace {
  size_t allocation;
  size_t offset;
};

// What an element of LoadedCode::entries points to.
struct ThunkProgram {
  std::unique_ptr<xla::cpu::CpuExecutable> executable;
  std::vector<xla::cpu::Thunk*> steps;  // of `executable`, in their order; those of a called computation in its place
  std::vector<stream_executor::DeviceAddressBase> constants;  // by allocation; null if it is no constant
  std::vector<ResultPlace> results;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_THUNKS_THUNK_PROGRAM_H_
