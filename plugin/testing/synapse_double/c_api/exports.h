// Declarations of the C functions that this library exports. SYNAPSE_DOUBLE_1_5 selects release 1.5 instead of 1.18.
//
// A function is defined in namespace hpu::synapse, where the release's structs and enums are visible. A definition
// whose parameters differ from the backend's declaration does not compile.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_C_API_EXPORTS_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_C_API_EXPORTS_H_

#include "plugin/backends/gaudi/synapse/functions.h"

#ifdef SYNAPSE_DOUBLE_1_5
namespace hpu::synapse {
using namespace v1_5;  // NOLINT: the release's types
}
#else
namespace hpu::synapse {
using namespace v1_18;  // NOLINT: the release's types
}
#endif

#define SYNAPSE_DOUBLE_EXPORT(name, parameters) \
  extern "C" __attribute__((visibility("default"))) synStatus name parameters;

namespace hpu::synapse {

HPU_SYNAPSE_REQUIRED(SYNAPSE_DOUBLE_EXPORT)
HPU_SYNAPSE_OPTIONAL(SYNAPSE_DOUBLE_EXPORT)
HPU_SYNAPSE_PROFILE_REQUIRED(SYNAPSE_DOUBLE_EXPORT)
HPU_SYNAPSE_PROFILE_OPTIONAL(SYNAPSE_DOUBLE_EXPORT)
#ifdef SYNAPSE_DOUBLE_1_5
HPU_SYNAPSE_1_5_REQUIRED(SYNAPSE_DOUBLE_EXPORT)
#else
HPU_SYNAPSE_1_18_REQUIRED(SYNAPSE_DOUBLE_EXPORT)
HPU_SYNAPSE_1_18_OPTIONAL(SYNAPSE_DOUBLE_EXPORT)
// A function that the backend does not use.
SYNAPSE_DOUBLE_EXPORT(synStreamGetAffinity, (const synDeviceId device, const synStreamHandle stream, uint64_t* mask))
#endif

// Number of this process's calls of synLaunch and its variants, including refused calls. Thread safe.
extern "C" __attribute__((visibility("default"))) uint64_t synapse_double_launch_count();

}  // namespace hpu::synapse

#undef SYNAPSE_DOUBLE_EXPORT

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_C_API_EXPORTS_H_
