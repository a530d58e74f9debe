#include "plugin/program/recipe_container.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/base/internal/endian.h"
#include "absl/strings/str_cat.h"
#include "hpu/recipe/v1/container.pb.h"
#include "plugin/base/status_macros.h"
#include "plugin/compat/sha256.h"
#include "plugin/program/table_message.h"

namespace hpu {
namespace {

constexpr absl::string_view kMagic = "HPURCNTR";
constexpr size_t kDigestOffset = 24;
constexpr size_t kDigestBytes = 32;
constexpr size_t kSealOffset = kDigestOffset + kDigestBytes;
static_assert(kSealOffset + kSealBytes == kContainerHeaderBytes);

Digest DigestOf(absl::string_view bytes) {
  return Sha256({bytes.substr(0, kDigestOffset), bytes.substr(kContainerHeaderBytes)});
}

recipe::v1::Description Describe(const RecipeContainer& container) {
  recipe::v1::Description description;
  description.set_kind(container.kind);
  description.set_target(container.target);
  ToMessage(container.table, description.mutable_table());
  description.set_workspace_bytes(container.workspace_bytes);
  description.set_payload(container.payload);
  for (const absl::string_view binary : container.binaries) description.add_binary_bytes(binary.size());
  return description;
}

uint64_t TotalBytes(const RecipeContainer& container, const recipe::v1::Description& description) {
  uint64_t total = kContainerHeaderBytes + description.ByteSizeLong();
  for (const absl::string_view binary : container.binaries) total += binary.size();
  return total;
}

absl::Status CheckHeader(absl::string_view bytes) {
  if (bytes.size() < kContainerHeaderBytes || bytes.substr(0, kMagic.size()) != kMagic) {
    return absl::InvalidArgumentError(absl::StrCat("not a serialised recipe (", bytes.size(), " bytes)"));
  }
  const uint32_t version = absl::little_endian::Load32(bytes.data() + kMagic.size());
  if (version == kContainerVersion) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the serialised recipe has format ", version, "; this build reads format ", kContainerVersion));
}

absl::StatusOr<recipe::v1::Description> ParseDescription(absl::string_view bytes) {
  const uint64_t size = absl::little_endian::Load64(bytes.data() + 16);
  const absl::string_view body = bytes.substr(kContainerHeaderBytes);
  recipe::v1::Description description;
  if (size > body.size() || size > static_cast<uint64_t>(std::numeric_limits<int>::max()) ||
      !description.ParseFromArray(body.data(), static_cast<int>(size))) {
    return absl::InvalidArgumentError(absl::StrCat("invalid description of ", size, " bytes"));
  }
  return description;
}

// Splits `rest` into the binaries.
absl::StatusOr<std::vector<absl::string_view>> SplitBinaries(const recipe::v1::Description& description,
                                                             absl::string_view rest) {
  std::vector<absl::string_view> binaries;
  for (const uint64_t size : description.binary_bytes()) {
    if (size > rest.size()) {
      return absl::InvalidArgumentError(absl::StrCat("binary ", binaries.size(), " has ", size,
                                                     " bytes in the description, but only ", rest.size(), " are left"));
    }
    binaries.push_back(rest.substr(0, size));
    rest.remove_prefix(size);
  }
  if (rest.empty()) return binaries;
  return absl::InvalidArgumentError(absl::StrCat(rest.size(), " bytes follow the last binary"));
}

}  // namespace

absl::Status UnusableRecipe(absl::string_view name, absl::string_view problem) {
  return absl::InvalidArgumentError(absl::StrCat("recipe '", name, "': ", problem, "; recompile it"));
}

std::string RecipeContainer::Serialize() const {
  const recipe::v1::Description description = Describe(*this);
  std::string bytes;
  bytes.reserve(TotalBytes(*this, description));
  bytes.append(kMagic.data(), kMagic.size());
  bytes.resize(kContainerHeaderBytes);
  absl::little_endian::Store32(&bytes[kMagic.size()], kContainerVersion);
  absl::little_endian::Store64(&bytes[16], description.ByteSizeLong());
  description.AppendToString(&bytes);
  for (const absl::string_view binary : binaries) bytes.append(binary.data(), binary.size());
  const Digest digest = DigestOf(bytes);
  std::memcpy(&bytes[kDigestOffset], digest.data(), digest.size());
  return bytes;
}

uint64_t RecipeContainer::SerializedBytes() const { return TotalBytes(*this, Describe(*this)); }

absl::StatusOr<RecipeContainer> RecipeContainer::Parse(absl::string_view name, absl::string_view bytes,
                                                       absl::string_view kind, absl::string_view target) {
  if (const absl::Status status = VerifyContainer(bytes); !status.ok()) return UnusableRecipe(name, status.message());
  const absl::string_view seal = bytes.substr(kSealOffset, kSealBytes);
  if (!std::all_of(seal.begin(), seal.end(), [](char c) { return c == '\0'; })) {
    return UnusableRecipe(name, "the recipe has the seal of a device server, and only this server can load it");
  }
  absl::StatusOr<recipe::v1::Description> description = ParseDescription(bytes);
  if (!description.ok()) return UnusableRecipe(name, description.status().message());
  if (description->kind() != kind) {
    return UnusableRecipe(name, absl::StrCat("the recipe was compiled by the backend ", description->kind(),
                                             ", but this device needs ", kind));
  }
  if (description->target() != target) {
    return absl::FailedPreconditionError(absl::StrCat("recipe '", name,
                                                      "' was compiled for another target; recompile "
                                                      "it. Recipe: ",
                                                      description->target(), ". This device: ", target));
  }
  absl::StatusOr<ProgramTable> table = FromMessage(description->table());
  if (!table.ok()) return UnusableRecipe(name, table.status().message());
  const size_t start = kContainerHeaderBytes + absl::little_endian::Load64(bytes.data() + 16);
  absl::StatusOr<std::vector<absl::string_view>> binaries = SplitBinaries(*description, bytes.substr(start));
  if (!binaries.ok()) return UnusableRecipe(name, binaries.status().message());
  RecipeContainer container;
  container.kind = std::move(*description->mutable_kind());
  container.target = std::move(*description->mutable_target());
  container.table = *std::move(table);
  container.workspace_bytes = description->workspace_bytes();
  container.payload = std::move(*description->mutable_payload());
  container.binaries = *std::move(binaries);
  return container;
}

absl::Status VerifyContainer(absl::string_view bytes) {
  HPU_RETURN_IF_ERROR(CheckHeader(bytes));
  if (AsView(DigestOf(bytes)) == bytes.substr(kDigestOffset, kDigestBytes)) return absl::OkStatus();
  return absl::InvalidArgumentError("the checksum is wrong");
}

absl::StatusOr<SealedDigest> ReadSealedDigest(absl::string_view name, absl::string_view bytes) {
  if (const absl::Status status = CheckHeader(bytes); !status.ok()) return UnusableRecipe(name, status.message());
  return SealedDigest{bytes.substr(kDigestOffset, kDigestBytes), bytes.substr(kSealOffset, kSealBytes)};
}

void SetSeal(std::string* bytes, absl::string_view seal) {
  bytes->replace(kSealOffset, kSealBytes, kSealBytes, '\0');
  bytes->replace(kSealOffset, seal.size(), seal.data(), seal.size());
}

}  // namespace hpu
