// Device files of the habanalabs driver, and detection of Gaudi cards.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_DEVICE_FILES_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_DEVICE_FILES_H_

#include <string>

#include "absl/strings/string_view.h"
#include "plugin/backends/gaudi/synapse/library.h"

namespace hpu::gaudi {

// Whether a path has the name of a device file that gives access to a card (/dev/accel/accel0, or /dev/hl0 of old
// drivers), rather than of a control file (/dev/hl_controlD0). Files of other drivers in /dev/accel have such names.
bool IsDeviceFile(absl::string_view path);

// Returns "gaudi" if the habanalabs driver has a card, a device file exists, and the backend supports SynapseAI's
// library; else an empty string. Logs why the library is not usable. `root` and `library` differ in tests. Does not
// start SynapseAI.
std::string FindGaudi(const std::string& root = "/", const std::string& library = synapse::kDefaultLibrary);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_DEVICE_FILES_H_
