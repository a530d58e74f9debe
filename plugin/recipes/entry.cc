#include "plugin/recipes/entry.h"

#include <algorithm>
#include <cstring>

#include "absl/base/internal/endian.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "plugin/base/status_macros.h"
#include "plugin/compat/sha256.h"
#include "plugin/program/recipe_container.h"

namespace hpu::recipes {
namespace {

constexpr absl::string_view kMagic = "HPURECIP";
constexpr size_t kChecksumBytes = 32;

std::string Deterministic(const google::protobuf::MessageLite& message) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    message.SerializeToCodedStream(&coded);
  }
  return bytes;
}

std::string Header(uint64_t ingredients, uint64_t metadata, uint64_t payload) {
  std::string header(kHeaderBytes, '\0');
  std::memcpy(header.data(), kMagic.data(), kMagic.size());
  absl::little_endian::Store32(&header[8], kFormatVersion);
  absl::little_endian::Store64(&header[16], ingredients);
  absl::little_endian::Store64(&header[24], metadata);
  absl::little_endian::Store64(&header[32], payload);
  return header;
}

struct Sizes {
  uint64_t ingredients, metadata, payload;
};

Sizes SizesOf(absl::string_view header) {
  return {absl::little_endian::Load64(header.data() + 16), absl::little_endian::Load64(header.data() + 24),
          absl::little_endian::Load64(header.data() + 32)};
}

// Checksum of an entry with `payload_bytes` bytes of payload. `bytes`: the entry without its checksum.
Digest ChecksumOf(absl::string_view bytes, uint64_t payload_bytes) {
  const size_t covered_payload = std::min<uint64_t>(payload_bytes, kContainerHeaderBytes);
  return Sha256({bytes.substr(0, bytes.size() - payload_bytes + covered_payload)});
}

// Removes and returns the first `size` bytes. Requires size <= bytes->size().
absl::string_view ConsumePrefix(absl::string_view* bytes, uint64_t size) {
  const absl::string_view front = bytes->substr(0, size);
  bytes->remove_prefix(size);
  return front;
}

}  // namespace

Key Key::Of(const recipe::v1::Ingredients& ingredients) {
  Key key;
  key.ingredients = Deterministic(ingredients);
  key.name = Hex(Sha256({key.ingredients}));
  return key;
}

std::string SerializeEntry(const Key& key, const recipe::v1::Metadata& metadata, absl::string_view payload) {
  const std::string described = Deterministic(metadata);
  std::string bytes = absl::StrCat(Header(key.ingredients.size(), described.size(), payload.size()), key.ingredients,
                                   described, payload);
  absl::StrAppend(&bytes, AsView(ChecksumOf(bytes, payload.size())));
  return bytes;
}

absl::Status CheckHeader(absl::string_view header, uint64_t file_bytes) {
  if (header.size() < kHeaderBytes || file_bytes < kHeaderBytes + kChecksumBytes) {
    return absl::InvalidArgumentError(absl::StrCat("the file is too short for a recipe: ", file_bytes,
                                                   " bytes, expected at least ", kHeaderBytes + kChecksumBytes));
  }
  if (file_bytes > kMaxEntryBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the file has ", file_bytes, " bytes; a recipe has at most ", kMaxEntryBytes));
  }
  if (header.substr(0, kMagic.size()) != kMagic)
    return absl::InvalidArgumentError(absl::StrCat("not a recipe file: the file does not begin with ", kMagic));
  const uint32_t version = absl::little_endian::Load32(header.data() + 8);
  if (version != kFormatVersion) {
    return absl::InvalidArgumentError(
        absl::StrCat("unsupported format version ", version, ", expected ", kFormatVersion));
  }
  const Sizes sizes = SizesOf(header);
  const uint64_t rest = file_bytes - kHeaderBytes - kChecksumBytes;
  // Checked one by one, so that no sum can overflow.
  if (sizes.ingredients > rest || sizes.metadata > rest - sizes.ingredients ||
      sizes.payload != rest - sizes.ingredients - sizes.metadata) {
    return absl::InvalidArgumentError(
        absl::StrCat("the size of the file (", file_bytes, " bytes) does not match its header: ", sizes.ingredients,
                     " bytes of ingredients, ", sizes.metadata, " of metadata, ", sizes.payload, " of payload"));
  }
  return absl::OkStatus();
}

MetadataRange MetadataRangeOf(absl::string_view header) {
  const Sizes sizes = SizesOf(header);
  return {kHeaderBytes + sizes.ingredients, sizes.metadata};
}

absl::StatusOr<Entry> ParseEntry(absl::string_view bytes) {
  HPU_RETURN_IF_ERROR(CheckHeader(bytes.substr(0, kHeaderBytes), bytes.size()));
  const Sizes sizes = SizesOf(bytes);
  const Digest checksum = ChecksumOf(bytes.substr(0, bytes.size() - kChecksumBytes), sizes.payload);
  if (AsView(checksum) != bytes.substr(bytes.size() - kChecksumBytes)) {
    return absl::InvalidArgumentError("the checksum is wrong");
  }
  absl::string_view rest = bytes.substr(kHeaderBytes);
  Entry entry;
  entry.ingredients = ConsumePrefix(&rest, sizes.ingredients);
  entry.metadata = ConsumePrefix(&rest, sizes.metadata);
  entry.payload = ConsumePrefix(&rest, sizes.payload);
  return entry;
}

absl::Status KeyMismatch(absl::string_view key, const Entry& entry) {
  return absl::InvalidArgumentError(absl::StrCat("the recipe does not match its key (expected ", key, ", found ",
                                                 Hex(Sha256({entry.ingredients})), ")"));
}

}  // namespace hpu::recipes
