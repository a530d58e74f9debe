// Search for and loading of the NVIDIA libraries that the CUDA plugin uses.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_CUDA_LIBRARIES_H_
#define HPU_PLUGIN_BACKENDS_PJRT_CUDA_LIBRARIES_H_

#include <string>
#include <vector>

namespace hpu::pjrt {

// Library files in the packages beside the plugin: <packages>/nvidia/*/lib/ for <packages>/jax_plugins/*/<plugin>. Each
// library follows its dependencies. Empty if there are no such packages.
std::vector<std::string> CudaLibraries(const std::string& plugin_file);

// Loads the result of CudaLibraries, as JAX does. The plugin and cuDNN then use these copies instead of libraries in
// the loader's search path. A library that cannot be loaded is logged; the search path may still provide it.
void LoadCudaLibraries(const std::string& plugin_file);

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_CUDA_LIBRARIES_H_
