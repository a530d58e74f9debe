#include "plugin/testing/synapse_double/runtime/guard.h"

#include <algorithm>

#include "plugin/testing/synapse_double/runtime/status.h"
#include "plugin/testing/synapse_double/runtime/switches.h"

namespace hpu::synapse_double {

void CheckGuard(const void* end, const char* argument) {
  if (!GetSwitches().guard_bytes) return;
  const auto* const guard = static_cast<const unsigned char*>(end);
  if (std::all_of(guard, guard + kGuardBytes, [](unsigned char byte) { return byte == kGuardByte; })) return;
  Abort(Rule::kLayout, Text(argument, ": no guard bytes after the structs: they have another release's layout"));
}

}  // namespace hpu::synapse_double
