// RandomId: unguessable identifiers and numbers.
#ifndef HPU_PLUGIN_BASE_RANDOM_ID_H_
#define HPU_PLUGIN_BASE_RANDOM_ID_H_

#include <cstdint>
#include <string>

namespace hpu {

// 32 hexadecimal digits from the system's random number generator. Opens no file. Thread safe.
std::string RandomId();

// A number from the same generator. Thread safe.
uint64_t RandomNumber();

}  // namespace hpu

#endif  // HPU_PLUGIN_BASE_RANDOM_ID_H_
