// Settings of synConfigurationSet.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_CONFIGURATION_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_CONFIGURATION_H_

#include <string>

#include "plugin/testing/synapse_double/runtime/status.h"

namespace hpu::synapse_double {

// Whether launches refuse sections that overlap.
inline constexpr char kSectionOverlapCheck[] = "CHECK_SECTION_OVERLAP_CHECK";

// Thread safe. Refuses unknown names, and private settings unless ENABLE_EXPERIMENTAL_FLAGS is set. Returns
// synUnsupported for a change of a setting that the double does not model.
synStatus SetConfiguration(const std::string& name, const std::string& value);
synStatus GetConfiguration(const std::string& name, std::string* value);

// Whether a setting is "1" or "true". The name must be known.
bool IsConfigured(const std::string& name);

// Restores all defaults.
void ResetConfiguration();

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_CONFIGURATION_H_
