// Fuzz target for libFuzzer: parses arbitrary bytes as a cache entry, and its payload as a recipe's container.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "absl/strings/string_view.h"
#include "hpu/recipe/v1/container.pb.h"
#include "plugin/compat/protobuf_silence.h"
#include "plugin/compat/sha256.h"
#include "plugin/program/recipe_container.h"
#include "plugin/recipes/entry.h"
#include "plugin/recipes/listing.h"

namespace hpu::recipes {
namespace {

constexpr size_t kChecksumBytes = 32;
// Offsets in a container's header: the size of the description, and the digest.
constexpr size_t kSizeOffset = 16, kDigestOffset = 24;

volatile uint8_t sink;  // keeps the compiler from removing reads

// Touches every byte of a view.
uint8_t Sum(absl::string_view bytes) {
  uint8_t sum = 0;
  for (const char c : bytes) sum += static_cast<uint8_t>(c);
  return sum;
}

// Parses a container for the kind and the target in its description, so that parsing reaches the last field.
void ParseContainer(absl::string_view bytes) {
  recipe::v1::Description description;
  uint64_t size = 0;
  if (bytes.size() > kContainerHeaderBytes) std::memcpy(&size, bytes.data() + kSizeOffset, sizeof(size));
  if (size > 0 && size <= bytes.size() - kContainerHeaderBytes) {
    description.ParseFromArray(bytes.data() + kContainerHeaderBytes, static_cast<int>(size));
  }
  const absl::StatusOr<RecipeContainer> container =
      RecipeContainer::Parse("fuzz", bytes, description.kind(), description.target());
  if (!container.ok()) {
    if (container.status().message().empty()) std::abort();
    return;
  }
  if (!VerifyContainer(bytes).ok()) std::abort();
  for (const absl::string_view binary : container->binaries) sink = sink + Sum(binary);
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
  sink = sink + Sum(entry->ingredients) + Sum(entry->metadata) + Sum(entry->payload);
  ParseContainer(entry->payload);
  // With the key of its ingredients, Inspect reads an entry to the last field.
  const absl::StatusOr<Contents> contents = Inspect(Hex(Sha256({entry->ingredients})), bytes);
  if (!contents.ok()) return;
  if (contents->payload_bytes != static_cast<int64_t>(entry->payload.size())) std::abort();
  if (!VerifyContainer(entry->payload).ok()) std::abort();
}

// Size of an entry's payload in bytes; 0 if the header is invalid or does not match the entry's size.
size_t PayloadBytes(absl::string_view bytes) {
  if (!CheckHeader(bytes.substr(0, kHeaderBytes), bytes.size()).ok()) return 0;
  uint64_t size = 0;
  std::memcpy(&size, bytes.data() + kHeaderBytes - sizeof(size), sizeof(size));
  return size;
}

// Sets valid hashes, which random mutations do not find, so that the parsers reach the code after the hash checks.
void SetHashes(std::string* bytes) {
  const size_t end = bytes->size() - kChecksumBytes;
  const size_t payload_bytes = PayloadBytes(*bytes), payload = end - payload_bytes;
  const auto set = [bytes](size_t offset, const Digest& digest) {
    bytes->replace(offset, digest.size(), reinterpret_cast<const char*>(digest.data()), digest.size());
  };
  const absl::string_view view = *bytes;
  if (payload_bytes >= kContainerHeaderBytes) {
    set(payload + kDigestOffset,
        Sha256({view.substr(payload, kDigestOffset),
                view.substr(payload + kContainerHeaderBytes, payload_bytes - kContainerHeaderBytes)}));
  }
  set(end, Sha256({view.substr(0, payload + std::min(payload_bytes, kContainerHeaderBytes))}));
}

}  // namespace
}  // namespace hpu::recipes

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const hpu::compat::ProtobufSilence silence;  // silences the parser's message on each refusal
  // In a separate allocation, so that AddressSanitizer detects a read past the end.
  std::string bytes(reinterpret_cast<const char*>(data), size);
  bytes.shrink_to_fit();
  hpu::recipes::Parse(bytes);
  if (size < hpu::recipes::kChecksumBytes) return 0;
  hpu::recipes::SetHashes(&bytes);
  hpu::recipes::Parse(bytes);
  return 0;
}
