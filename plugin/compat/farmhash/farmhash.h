// FarmHash declarations, which TensorFlow's pip package lacks. TensorFlow's fingerprint.h (and so all of
// common_runtime/eager) includes the declarations. The plugin does not call the functions.
#ifndef HPU_PLUGIN_COMPAT_FARMHASH_FARMHASH_H_
#define HPU_PLUGIN_COMPAT_FARMHASH_FARMHASH_H_

#include <cstddef>
#include <cstdint>
#include <utility>

namespace util {

using uint128_t = std::pair<uint64_t, uint64_t>;

inline uint64_t Uint128Low64(const uint128_t& x) { return x.first; }
inline uint64_t Uint128High64(const uint128_t& x) { return x.second; }

uint32_t Fingerprint32(const char* data, size_t size);
uint64_t Fingerprint64(const char* data, size_t size);
uint128_t Fingerprint128(const char* data, size_t size);

}  // namespace util

#endif  // HPU_PLUGIN_COMPAT_FARMHASH_FARMHASH_H_
