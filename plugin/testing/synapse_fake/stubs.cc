// Every function of a fake libSynapse, as a weak stub that returns synSuccess. FAKE_SYNAPSE_1_5 selects the profile.
#include "plugin/backends/gaudi/synapse/functions.h"

namespace hpu::synapse {

#define STUB(name, parameters) \
  extern "C" __attribute__((weak, visibility("default"))) synStatus name parameters { return synSuccess; }

HPU_SYNAPSE_REQUIRED(STUB)
HPU_SYNAPSE_OPTIONAL(STUB)

#ifdef FAKE_SYNAPSE_1_5
namespace v1_5 {
HPU_SYNAPSE_PROFILE_REQUIRED(STUB)
HPU_SYNAPSE_PROFILE_OPTIONAL(STUB)
HPU_SYNAPSE_1_5_REQUIRED(STUB)
}  // namespace v1_5
#else
namespace v1_18 {
HPU_SYNAPSE_PROFILE_REQUIRED(STUB)
HPU_SYNAPSE_PROFILE_OPTIONAL(STUB)
HPU_SYNAPSE_1_18_REQUIRED(STUB)
HPU_SYNAPSE_1_18_OPTIONAL(STUB)
}  // namespace v1_18
#endif

}  // namespace hpu::synapse
