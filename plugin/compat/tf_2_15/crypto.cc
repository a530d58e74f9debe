#include "plugin/compat/tf_2_15/crypto.h"

#include <cstddef>
#include <cstdint>

// BoringSSL's function, which TensorFlow exports without a header.
extern "C" uint8_t* SHA256(const uint8_t* data, size_t size, uint8_t* digest);

namespace hpu::serve {

std::string Sha256(absl::string_view data) {
  std::string digest(32, '\0');
  SHA256(reinterpret_cast<const uint8_t*>(data.data()), data.size(), reinterpret_cast<uint8_t*>(digest.data()));
  return digest;
}

}  // namespace hpu::serve
