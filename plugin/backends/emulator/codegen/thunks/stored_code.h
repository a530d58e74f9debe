// StoredCode: serialised thunks in a form that does not depend on the compiling process.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_THUNKS_STORED_CODE_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_THUNKS_STORED_CODE_H_

#include <string>

#include "xla/service/cpu/executable.pb.h"

namespace hpu::emulator {

// Serialises a compilation result for xla::cpu::CpuAotLoader. Equal programs have equal bytes: without the numbers that
// a process gives its modules, and with sets in order.
std::string StoredCode(xla::cpu::CompilationResultProto result);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_THUNKS_STORED_CODE_H_
