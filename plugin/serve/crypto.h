// Cryptography, by the implementation that TensorFlow carries. Thread safe.
#ifndef HPU_PLUGIN_SERVE_CRYPTO_H_
#define HPU_PLUGIN_SERVE_CRYPTO_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hpu::serve {

// 32 bytes.
std::string HmacSha256(absl::string_view key, absl::string_view data);

// In a time that depends on the lengths alone.
bool EqualSecrets(absl::string_view a, absl::string_view b);

// The system's, fit for secrets. Internal if it has none.
absl::StatusOr<std::string> RandomBytes(size_t count);

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVE_CRYPTO_H_
