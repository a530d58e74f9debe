// NVIDIA cards of this machine, as modules and as devices of the CUDA plugin.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_CUDA_CARDS_H_
#define HPU_PLUGIN_BACKENDS_PJRT_CUDA_CARDS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/common/acquire_options.h"
#include "plugin/backends/pjrt/client/client.h"

namespace hpu::pjrt {

// Whether the plugin file is the CUDA plugin, by its name.
bool IsForCuda(absl::string_view file);

// Number of cards with a device file in `folder`, which is /dev outside tests.
int CountCards(const std::string& folder = "/dev");

// The cards that CUDA_VISIBLE_DEVICES leaves of `count`, in CUDA's order: their indices without that variable. Without
// a setting, all. An entry that CUDA does not accept ends the list. A card that is named by its UUID gets its place in
// the list as its index.
std::vector<int> VisibleCards(int count, std::optional<absl::string_view> setting);

// The cards that this process may use, as modules. Unavailable if there is none.
absl::StatusOr<common::Modules> CudaModules(const std::string& folder = "/dev");

// Options for a client of the card `module_id` alone, by the variables that TensorFlow's own CUDA build reads:
// CUDA_VISIBLE_DEVICES, TF_FORCE_GPU_ALLOW_GROWTH, TF_GPU_ALLOCATOR.
Options CudaOptions(int module_id, const std::string& folder = "/dev");

// "pjrt:cuda" if there are a card, its driver and the plugin; else empty.
std::string FindCuda();

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_CUDA_CARDS_H_
