// Fuzz target for libFuzzer: parses arbitrary bytes as a cache entry.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "absl/strings/string_view.h"
#include "google/protobuf/stubs/logging.h"
#include "plugin/recipes/entry.h"
#include "plugin/recipes/listing.h"
#include "plugin/recipes/sha256.h"

namespace hpu::recipes {
namespace {

constexpr size_t kChecksumBytes = 32;

// Touches every byte of a view.
uint8_t Sum(absl::string_view bytes) {
  uint8_t sum = 0;
  for (const char c : bytes) sum += static_cast<uint8_t>(c);
  return sum;
}

void Parse(absl::string_view bytes) {
  const absl::StatusOr<Entry> entry = ParseEntry(bytes);
  if (!entry.ok()) {
    if (entry.status().message().empty()) std::abort();  // an error must have a text
    return;
  }
  // The parts are adjacent in `bytes` and cover all bytes except header and checksum.
  if (entry->ingredients.data() < bytes.data() || entry->metadata.data() != entry->ingredients.end() ||
      entry->payload.data() != entry->metadata.end() ||
      entry->payload.end() + kChecksumBytes != bytes.data() + bytes.size()) {
    std::abort();
  }
  volatile uint8_t sum = Sum(entry->ingredients) + Sum(entry->metadata) + Sum(entry->payload);
  static_cast<void>(sum);
  // With the key of its ingredients, Inspect reads an entry to the last field.
  const absl::StatusOr<Contents> contents = Inspect(Hex(Sha256({entry->ingredients})), bytes);
  if (contents.ok() && contents->payload_bytes != static_cast<int64_t>(entry->payload.size())) std::abort();
}

}  // namespace
}  // namespace hpu::recipes

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using hpu::recipes::kChecksumBytes;
  static const google::protobuf::LogSilencer silence;  // silences the parser's message on each refusal
  // In a separate allocation, so that AddressSanitizer detects a read past the end.
  std::string bytes(reinterpret_cast<const char*>(data), size);
  bytes.shrink_to_fit();
  hpu::recipes::Parse(bytes);
  if (size < kChecksumBytes) return 0;
  // Random mutations do not find valid checksums. Setting the right checksum reaches the code after the check.
  const hpu::recipes::Digest digest = hpu::recipes::Sha256({absl::string_view(bytes).substr(0, size - kChecksumBytes)});
  bytes.replace(size - kChecksumBytes, kChecksumBytes, reinterpret_cast<const char*>(digest.data()), digest.size());
  hpu::recipes::Parse(bytes);
  return 0;
}
