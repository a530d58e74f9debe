// Symbol lookup for compiled recipes: XLA's CPU runtime, the C and mathematics libraries, registered custom calls.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OBJECT_RUNTIME_SYMBOLS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OBJECT_RUNTIME_SYMBOLS_H_

#include <string>

namespace hpu::emulator {

// Null if this process has no function of that name. Thread safe.
void* FindRuntimeSymbol(const std::string& name);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OBJECT_RUNTIME_SYMBOLS_H_
