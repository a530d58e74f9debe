// SHA-256, computed by the implementation that TensorFlow exports.
#ifndef HPU_PLUGIN_COMPAT_TF_2_15_CRYPTO_H_
#define HPU_PLUGIN_COMPAT_TF_2_15_CRYPTO_H_

#include <string>

#include "absl/strings/string_view.h"

namespace hpu::serve {

// Returns the 32 bytes of the hash. Thread safe.
std::string Sha256(absl::string_view data);

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_COMPAT_TF_2_15_CRYPTO_H_
