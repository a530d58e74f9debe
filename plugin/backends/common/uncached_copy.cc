#include "plugin/backends/common/uncached_copy.h"

#include <emmintrin.h>

#include <cstring>

namespace hpu::common {
namespace {

// Smaller copies may stay in the caches, because they are likely to be read soon.
constexpr uint64_t kMinBytes = uint64_t{256} << 10;
constexpr uint64_t kLine = 64;
constexpr uint64_t kParts = kLine / sizeof(__m128i);

}  // namespace

void CopyUncached(void* destination, const void* source, uint64_t bytes) {
  auto* to = static_cast<char*>(destination);
  const auto* from = static_cast<const char*>(source);
  if (bytes >= kMinBytes) {
    const uint64_t unaligned = -reinterpret_cast<uint64_t>(to) % kLine;
    std::memcpy(to, from, unaligned);
    for (to += unaligned, from += unaligned, bytes -= unaligned; bytes >= kLine; bytes -= kLine) {
      __m128i line[kParts];
      std::memcpy(line, from, kLine);
      for (uint64_t i = 0; i < kParts; ++i) _mm_stream_si128(reinterpret_cast<__m128i*>(to) + i, line[i]);
      to += kLine;
      from += kLine;
    }
    _mm_sfence();
  }
  std::memcpy(to, from, bytes);
}

}  // namespace hpu::common
