#include "plugin/compat/llvm_host.h"

#include "xla/backends/cpu/target_machine_options.h"
#include "xla/debug_options_flags.h"

namespace hpu::compat {

LlvmHost DetectLlvmHost() {
  const xla::cpu::TargetMachineOptions host(xla::GetDebugOptionsFromFlags());
  return {host.cpu(), host.GetTargetMachineFeaturesVector()};
}

}  // namespace hpu::compat
