#include "plugin/serve/crypto.h"

#include <sys/random.h>

#include <cstdint>

#include "absl/status/status.h"

// BoringSSL's, which TensorFlow exports without its headers.
extern "C" {
const void* EVP_sha256(void);
uint8_t* HMAC(const void* digest, const void* key, size_t key_size, const uint8_t* data, size_t size, uint8_t* mac,
              unsigned* mac_size);
int CRYPTO_memcmp(const void* a, const void* b, size_t size);
}

namespace hpu::serve {

std::string HmacSha256(absl::string_view key, absl::string_view data) {
  std::string mac(32, '\0');
  unsigned size = 0;
  HMAC(EVP_sha256(), key.data(), key.size(), reinterpret_cast<const uint8_t*>(data.data()), data.size(),
       reinterpret_cast<uint8_t*>(mac.data()), &size);
  return mac;
}

bool EqualSecrets(absl::string_view a, absl::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

absl::StatusOr<std::string> RandomBytes(size_t count) {
  std::string bytes(count, '\0');
  if (getrandom(bytes.data(), count, 0) != static_cast<ssize_t>(count)) {
    return absl::InternalError("the system gives no random numbers");
  }
  return bytes;
}

}  // namespace hpu::serve
