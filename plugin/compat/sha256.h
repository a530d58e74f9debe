// SHA-256, computed by TensorFlow's BoringSSL.
#ifndef HPU_PLUGIN_COMPAT_SHA256_H_
#define HPU_PLUGIN_COMPAT_SHA256_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "absl/strings/string_view.h"

namespace hpu {

using Digest = std::array<uint8_t, 32>;

// Hash of the concatenated parts. Thread safe.
Digest Sha256(std::initializer_list<absl::string_view> parts);

// The digest's 32 bytes. The view points into `digest`.
inline absl::string_view AsView(const Digest& digest) {
  return absl::string_view(reinterpret_cast<const char*>(digest.data()), digest.size());
}

// Lower-case hexadecimal digits.
std::string Hex(const Digest& digest);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPAT_SHA256_H_
