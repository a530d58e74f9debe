#include "plugin/compat/sha256.h"

#include "absl/strings/escaping.h"

// BoringSSL's functions, which TensorFlow exports without headers. This context is at least as large as BoringSSL's
// (112 bytes).
extern "C" {
struct HpuSha256Context {
  alignas(16) unsigned char state[256];
};
int SHA256_Init(HpuSha256Context* context);
int SHA256_Update(HpuSha256Context* context, const void* data, size_t size);
int SHA256_Final(uint8_t* digest, HpuSha256Context* context);
}

namespace hpu {

Digest Sha256(std::initializer_list<absl::string_view> parts) {
  HpuSha256Context context;
  SHA256_Init(&context);
  for (absl::string_view part : parts) SHA256_Update(&context, part.data(), part.size());
  Digest digest;
  SHA256_Final(digest.data(), &context);
  return digest;
}

std::string Hex(const Digest& digest) { return absl::BytesToHexString(AsView(digest)); }

}  // namespace hpu
