// NVIDIA's libraries that the CUDA plugin uses.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_CUDA_LIBRARIES_H_
#define HPU_PLUGIN_BACKENDS_PJRT_CUDA_LIBRARIES_H_

#include <string>
#include <vector>

namespace hpu::pjrt {

// Library files in the packages beside the plugin: <packages>/nvidia/*/lib/ for <packages>/jax_plugins/*/<plugin>. Each
// library comes after those that it needs. Empty if there are no such packages.
std::vector<std::string> CudaLibraries(const std::string& plugin_file);

// Loads these libraries, so that the plugin and cuDNN find these copies whatever the loader's path is, as JAX does.
// Libraries that cannot be loaded are logged and left to the loader's path.
void LoadCudaLibraries(const std::string& plugin_file);

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_CUDA_LIBRARIES_H_
