// C functions: start and end of the library, versions, configuration, descriptions of statuses.
#include "plugin/testing/synapse_double/runtime/process.h"

#include <cstring>

#include "plugin/testing/synapse_double/c_api/exports.h"
#include "plugin/testing/synapse_double/runtime/release.h"
#include "plugin/testing/synapse_double/runtime/switches.h"

namespace hpu::synapse {

synStatus synInitialize() {
  SYNAPSE_DOUBLE_CALL_AT_ANY_TIME();
  return synapse_double::Initialize();
}

synStatus synDestroy() {
  SYNAPSE_DOUBLE_CALL();
  return synapse_double::Destroy();
}

}  // namespace hpu::synapse
