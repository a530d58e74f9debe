#include "plugin/recipes/listing.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "hpu/recipe/v1/notes.pb.h"
#include "plugin/base/status_macros.h"
#include "plugin/compat/sha256.h"
#include "plugin/program/recipe_container.h"
#include "plugin/recipes/file_names.h"

namespace hpu::recipes {
namespace {

constexpr size_t kKeyDigits = 64;

absl::Status CheckKey(absl::string_view key) {
  const auto is_digit = [](char c) { return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f'); };
  if (key.size() == kKeyDigits && absl::c_all_of(key, is_digit)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("invalid key '", key, "': expected ", kKeyDigits, " lower-case hexadecimal digits"));
}

std::string FileOf(absl::string_view name) { return IsNotes(name) ? std::string(name) : EntryName(name); }

absl::Status VerifyNotes(absl::string_view payload) {
  recipe::v1::ClusterNotes notes;
  if (notes.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("cannot parse the notes (", payload.size(), " bytes)"));
}

}  // namespace

absl::StatusOr<Contents> Inspect(absl::string_view name, absl::string_view bytes) {
  const absl::string_view key = absl::StripSuffix(name, kNotesSuffix);
  HPU_RETURN_IF_ERROR(CheckKey(key));
  HPU_ASSIGN_OR_RETURN(const Entry entry, ParseEntry(bytes));
  if (Hex(Sha256({entry.ingredients})) != key) return KeyMismatch(key, entry);
  HPU_RETURN_IF_ERROR(IsNotes(name) ? VerifyNotes(entry.payload) : VerifyContainer(entry.payload));
  Contents contents;
  contents.payload_bytes = entry.payload.size();
  if (!contents.ingredients.ParseFromArray(entry.ingredients.data(), entry.ingredients.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot parse the recipe's ingredients (", entry.ingredients.size(), " bytes)"));
  }
  if (!contents.metadata.ParseFromArray(entry.metadata.data(), entry.metadata.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot parse the recipe's metadata (", entry.metadata.size(), " bytes)"));
  }
  return contents;
}

absl::StatusOr<std::string> ReadEntry(const StoreDirectory& directory, absl::string_view name) {
  HPU_RETURN_IF_ERROR(CheckKey(absl::StripSuffix(name, kNotesSuffix)));
  HPU_ASSIGN_OR_RETURN(std::string bytes, directory.Read(FileOf(name), /*touch=*/false));
  HPU_RETURN_IF_ERROR(Inspect(name, bytes).status());
  return bytes;
}

absl::Status WriteEntry(const StoreDirectory& directory, absl::string_view name, absl::string_view bytes) {
  HPU_RETURN_IF_ERROR(Inspect(name, bytes).status());
  return directory.Write(FileOf(name), bytes);
}

std::optional<absl::Duration> LastCompileTime(const StoreDirectory& directory, absl::string_view cluster) {
  const absl::StatusOr<std::vector<StoreDirectory::File>> files = directory.List();
  if (!files.ok()) return std::nullopt;
  std::optional<absl::Duration> time;
  int64_t newest = 0;
  for (const StoreDirectory::File& file : *files) {
    if (!IsEntry(file.name)) continue;
    const absl::StatusOr<std::string> bytes = directory.ReadMetadata(file.name);
    recipe::v1::Metadata metadata;
    if (!bytes.ok() || !metadata.ParseFromString(*bytes) || metadata.cluster() != cluster) continue;
    if (metadata.created() < newest || !(metadata.compile_seconds() >= 0)) continue;
    newest = metadata.created();
    time = absl::Seconds(metadata.compile_seconds());
  }
  return time;
}

absl::StatusOr<Listing> List(const StoreDirectory& directory) {
  HPU_ASSIGN_OR_RETURN(const std::vector<StoreDirectory::File> files, directory.List());
  Listing listing;
  for (const StoreDirectory::File& file : files) {
    if (IsDamaged(file.name)) listing.damaged.push_back(file.name);
    if (IsNotes(file.name)) listing.notes.push_back(file.name);
    if (IsTemporary(file.name) || IsLock(file.name)) listing.pending.push_back(file.name);
    if (!IsEntry(file.name)) continue;
    const std::string key(absl::StripSuffix(file.name, kEntrySuffix));
    const absl::StatusOr<std::string> bytes = directory.Read(file.name, /*touch=*/false);
    if (absl::IsNotFound(bytes.status())) continue;
    listing.entries.push_back({key, file.bytes, file.used.tv_sec,
                               bytes.ok() ? Inspect(key, *bytes) : absl::StatusOr<Contents>(bytes.status())});
  }
  absl::c_sort(listing.entries, [](const ListedEntry& a, const ListedEntry& b) { return a.key < b.key; });
  absl::c_sort(listing.notes);
  absl::c_sort(listing.damaged);
  absl::c_sort(listing.pending);
  return listing;
}

}  // namespace hpu::recipes
