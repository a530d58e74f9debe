// Guard bytes after structs that a caller passes. They detect structs of another release's layout.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_GUARD_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_GUARD_H_

#include <cstddef>

namespace hpu::synapse_double {

// Bytes that tests put after an array of structs.
inline constexpr unsigned char kGuardByte = 0xD9;
inline constexpr size_t kGuardBytes = 16;

// Aborts (rule 23) unless guard bytes begin at `end`. Does nothing without the switch GUARD_BYTES.
void CheckGuard(const void* end, const char* argument);

// The same for an array, whose structs have this release's layout.
template <typename Struct>
void CheckArrayGuard(const Struct* array, size_t count, const char* argument) {
  CheckGuard(array + count, argument);
}

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_GUARD_H_
