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
#include "plugin/backends/pjrt/plugin_file.h"

namespace hpu::pjrt {

// Whether the plugin file is the CUDA plugin, by the file name.
bool IsForCuda(absl::string_view file);

// Number of cards with a device file in `folder`, which is /dev outside tests.
int CountCards(const std::string& folder = "/dev");

// Indices of the cards that `setting` (CUDA_VISIBLE_DEVICES) selects from `count` cards, in CUDA's order. An index is a
// card's number without CUDA_VISIBLE_DEVICES. Without a setting, all cards are visible. The first invalid entry ends
// the list, as in CUDA. For a UUID, the index is the position in the list.
std::vector<int> VisibleCards(int count, std::optional<absl::string_view> setting);

// The cards that this process may use, as modules. Fails with Unavailable if there is no card.
absl::StatusOr<common::Modules> CudaModules(const std::string& folder = "/dev");

// Client options for the card `module_id` alone. Reads the variables of TensorFlow's CUDA build: CUDA_VISIBLE_DEVICES,
// TF_FORCE_GPU_ALLOW_GROWTH, TF_GPU_ALLOCATOR.
Options CudaOptions(int module_id, const std::string& folder = "/dev");

// The CUDA plugin's error from the creation of a client, with the remedy.
absl::Status CudaClientError(const absl::Status& error);

// Where FindCuda searches, which tests change.
struct CudaPlaces {
  std::string devices = "/dev";
  std::vector<std::string> packages = PackageFolders();
  std::string driver = "libcuda.so.1";
};

// Returns "pjrt:cuda" if a visible card, the driver and the plugin are present; else an empty string.
std::string FindCuda(const CudaPlaces& places = {});

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_CUDA_CARDS_H_
