// Device files of the habanalabs driver, and detection of Gaudi cards.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_DEVICE_FILES_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_DEVICE_FILES_H_

#include <string>

#include "absl/strings/string_view.h"
#include "plugin/backends/gaudi/synapse/library.h"

namespace hpu::gaudi {

// Whether a path is a device file that gives access to a card (/dev/accel/accel0, or /dev/hl0 of old drivers), rather
// than a control file (/dev/hl_controlD0). /dev/accel also holds files of other drivers.
bool IsDeviceFile(absl::string_view path);

// Returns "gaudi" if the habanalabs driver has a card and the backend supports SynapseAI's library; else an empty
// string. The log says why a card is not used. `root` and `library` differ in tests. Does not start SynapseAI.
std::string FindGaudi(const std::string& root = "/", const std::string& library = synapse::kDefaultLibrary);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_DEVICE_FILES_H_
