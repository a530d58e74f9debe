// Recipe cache functions of the C interface, for tools that read and change a cache directory.
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "plugin/base/json/json.h"
#include "plugin/c_api/c_api.h"
#include "plugin/c_api/c_buffer.h"
#include "plugin/recipes/cleaning.h"
#include "plugin/recipes/entry.h"
#include "plugin/recipes/listing.h"
#include "plugin/recipes/program_difference.h"
#include "plugin/recipes/sha256.h"
#include "plugin/recipes/store_directory.h"
#include "tsl/platform/errors.h"
#include "tsl/platform/statusor.h"

namespace hpu {
namespace {

using store::StoreDirectory;

template <typename Texts>
std::string Strings(const Texts& texts) {
  return JsonStrings({texts.begin(), texts.end()});
}

void AddContents(const store::Contents& contents, JsonObject* json) {
  const recipe::v1::Ingredients& ingredients = contents.ingredients;
  const recipe::v1::Metadata& metadata = contents.metadata;
  json->Add("cluster", metadata.cluster());
  json->Add("ops", CountInstructions(ingredients.program()));
  json->Add("created", metadata.created());
  json->Add("compile_seconds", metadata.compile_seconds());
  json->Add("workspace_bytes", metadata.workspace_bytes());
  json->Add("payload_bytes", contents.payload_bytes);
  json->AddLiteral("arguments", Strings(metadata.arguments()));
  json->AddLiteral("results", Strings(metadata.results()));
  json->Add("program", store::Hex(store::Sha256({ingredients.program()})));
  json->Add("backend", ingredients.backend());
  json->Add("target", ingredients.target());
  json->Add("package_version", ingredients.package_version());
  json->Add("tensorflow_version", ingredients.tensorflow_version());
}

std::string ToJson(const store::ListedEntry& entry) {
  JsonObject json;
  json.Add("key", entry.key);
  json.Add("bytes", entry.bytes);
  json.Add("used", entry.used);
  json.Add("problem", entry.contents.status().message());
  if (entry.contents.ok()) AddContents(*entry.contents, &json);
  return std::move(json).Finish();
}

absl::StatusOr<std::string> List(const char* path) {
  TF_ASSIGN_OR_RETURN(const StoreDirectory directory, StoreDirectory::Open(path, /*make=*/false));
  TF_ASSIGN_OR_RETURN(const store::Listing listing, store::List(directory));
  JsonObject json;
  json.AddLiteral("entries", JsonList(listing.entries, [](std::string* out, const store::ListedEntry& entry) {
                    out->append(ToJson(entry));
                  }));
  json.AddLiteral("damaged", JsonStrings(listing.damaged));
  json.AddLiteral("pending", JsonStrings(listing.pending));
  return std::move(json).Finish();
}

absl::StatusOr<std::string> Clean(const char* path, int64_t max_bytes, int64_t max_unused_s) {
  TF_ASSIGN_OR_RETURN(const StoreDirectory directory, StoreDirectory::Open(path, /*make=*/false));
  store::EvictionLimits limits;
  if (max_bytes >= 0) limits.max_bytes = max_bytes;
  if (max_unused_s >= 0) limits.max_unused = absl::Seconds(max_unused_s);
  TF_ASSIGN_OR_RETURN(const store::Eviction eviction, store::Evict(directory, limits));
  JsonObject json;
  json.Add("entries", eviction.entries);
  json.Add("bytes", eviction.bytes);
  json.Add("in_use", eviction.in_use);
  json.Add("busy", eviction.busy);
  json.Add("leftovers", store::RemoveLeftovers(directory));
  json.Add("damaged", store::RemoveDamaged(directory));
  return std::move(json).Finish();
}

absl::StatusOr<std::string> Read(const char* path, const char* key) {
  TF_ASSIGN_OR_RETURN(const StoreDirectory directory, StoreDirectory::Open(path, /*make=*/false));
  return store::ReadEntry(directory, key);
}

absl::StatusOr<std::string> Inspect(const char* key, absl::string_view bytes) {
  store::ListedEntry entry{key, static_cast<int64_t>(bytes.size()), 0, store::Inspect(key, bytes)};
  TF_RETURN_IF_ERROR(entry.contents.status());
  return ToJson(entry);
}

absl::StatusOr<std::string> Write(const char* path, const char* key, absl::string_view bytes) {
  TF_ASSIGN_OR_RETURN(const StoreDirectory directory, StoreDirectory::Open(path, /*make=*/true));
  TF_RETURN_IF_ERROR(store::WriteEntry(directory, key, bytes));
  return "";
}

absl::StatusOr<std::string> ProgramOf(const StoreDirectory& directory, const char* key) {
  TF_ASSIGN_OR_RETURN(const std::string bytes, store::ReadEntry(directory, key));
  TF_ASSIGN_OR_RETURN(const store::Contents contents, store::Inspect(key, bytes));
  return contents.ingredients.program();
}

absl::StatusOr<std::string> Compare(const char* path, const char* before, const char* now) {
  TF_ASSIGN_OR_RETURN(const StoreDirectory directory, StoreDirectory::Open(path, /*make=*/false));
  TF_ASSIGN_OR_RETURN(const std::string before_program, ProgramOf(directory, before));
  TF_ASSIGN_OR_RETURN(const std::string now_program, ProgramOf(directory, now));
  return JsonStrings(Differences(before_program, now_program));
}

// Stores the result or the message in `out`; returns the status code.
int32_t Give(const absl::StatusOr<std::string>& result, hpu_buffer* out) {
  *out = result.ok() ? MakeBuffer(*result) : MakeBuffer(result.status().message());
  return static_cast<int32_t>(result.status().code());
}

absl::string_view View(const void* bytes, size_t size) {
  return absl::string_view(static_cast<const char*>(bytes), size);
}

}  // namespace
}  // namespace hpu

extern "C" {

int32_t hpu_store_list(const char* path, hpu_buffer* out) { return hpu::Give(hpu::List(path), out); }

int32_t hpu_store_clean(const char* path, int64_t max_bytes, int64_t max_unused_s, hpu_buffer* out) {
  return hpu::Give(hpu::Clean(path, max_bytes, max_unused_s), out);
}

int32_t hpu_store_read(const char* path, const char* key, hpu_buffer* out) {
  return hpu::Give(hpu::Read(path, key), out);
}

int32_t hpu_store_inspect(const char* key, const void* bytes, size_t size, hpu_buffer* out) {
  return hpu::Give(hpu::Inspect(key, hpu::View(bytes, size)), out);
}

int32_t hpu_store_write(const char* path, const char* key, const void* bytes, size_t size, hpu_buffer* out) {
  return hpu::Give(hpu::Write(path, key, hpu::View(bytes, size)), out);
}

int32_t hpu_store_compare(const char* path, const char* before, const char* now, hpu_buffer* out) {
  return hpu::Give(hpu::Compare(path, before, now), out);
}

}  // extern "C"
