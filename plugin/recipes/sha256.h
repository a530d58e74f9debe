// SHA-256, computed by TensorFlow's BoringSSL.
#ifndef HPU_PLUGIN_RECIPES_SHA256_H_
#define HPU_PLUGIN_RECIPES_SHA256_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace hpu::recipes {

using Digest = std::array<uint8_t, 32>;

// Hash of the concatenated parts. Thread safe.
Digest Sha256(std::initializer_list<absl::string_view> parts);

// Lower-case hexadecimal digits.
std::string Hex(const Digest& digest);

}  // namespace hpu::recipes

#endif  // HPU_PLUGIN_RECIPES_SHA256_H_
