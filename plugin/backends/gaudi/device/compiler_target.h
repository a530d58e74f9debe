// CompilerTarget: the text of DeviceInfo::compiler_target, with the generation and the versions of SynapseAI and its
// kernels. A recipe is valid for one target.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_COMPILER_TARGET_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_COMPILER_TARGET_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/backends/gaudi/synapse/library.h"

namespace hpu::gaudi {

// Generation, driver version, ABI profile, and the TPC libraries' versions where the release exports them. Then name,
// size and checksum of each file in GC_KERNEL_PATH, in its order: "gaudi2 synapse=1.18.0 abi=1.18 tpc=a.so:3
// kernels=…". Ends with " unproven" if HPU_GAUDI_UNPROVEN allows unproven guids. synInitialize must have been called.
absl::StatusOr<std::string> CompilerTarget(const synapse::Library& library, synapse::Generation generation);

// The part of CompilerTarget for kernel libraries. A file that cannot be read appears by its name only.
std::string KernelFiles(const std::vector<std::string>& paths);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_COMPILER_TARGET_H_
