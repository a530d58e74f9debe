// Profile: the ABI of SynapseAI releases. Plain C++ without Abseil, for the table of guids.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_PROFILE_ENUM_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_PROFILE_ENUM_H_

namespace hpu::synapse {

// Releases with the same struct layouts, enums and functions, the oldest first.
enum class Profile { k1_5, k1_18 };

}  // namespace hpu::synapse

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_PROFILE_ENUM_H_
