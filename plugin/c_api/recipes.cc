// Recipe cache functions of the C interface, for tools that read and change a cache directory.
#include <cstring>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "hpu/report/v1/report.pb.h"
#include "plugin/base/status_macros.h"
#include "plugin/c_api/c_api.h"
#include "plugin/c_api/c_buffer.h"
#include "plugin/compat/sha256.h"
#include "plugin/recipes/cleaning.h"
#include "plugin/recipes/entry.h"
#include "plugin/recipes/listing.h"
#include "plugin/recipes/program_difference.h"
#include "plugin/recipes/store_directory.h"

namespace hpu {
namespace {

using recipes::StoreDirectory;

void Describe(const recipes::ListedEntry& listed, report::v1::RecipeEntry* entry) {
  entry->set_key(listed.key);
  entry->set_bytes(listed.bytes);
  entry->set_used(listed.used);
  entry->set_problem(std::string(listed.contents.status().message()));
  if (!listed.contents.ok()) return;
  const recipe::v1::Ingredients& ingredients = listed.contents->ingredients;
  const recipe::v1::Metadata& metadata = listed.contents->metadata;
  entry->set_cluster(metadata.cluster());
  entry->set_ops(recipes::CountInstructions(ingredients.program()));
  entry->set_created(metadata.created());
  entry->set_compile_seconds(metadata.compile_seconds());
  entry->set_workspace_bytes(metadata.workspace_bytes());
  entry->set_payload_bytes(listed.contents->payload_bytes);
  *entry->mutable_arguments() = metadata.arguments();
  *entry->mutable_results() = metadata.results();
  entry->set_program(Hex(Sha256({ingredients.program()})));
  entry->set_backend(ingredients.backend());
  entry->set_target(ingredients.target());
  entry->set_package_version(ingredients.package_version());
  entry->set_tensorflow_version(ingredients.tensorflow_version());
}

absl::StatusOr<std::string> List(const char* path) {
  HPU_ASSIGN_OR_RETURN(const StoreDirectory directory, StoreDirectory::Open(path, /*make=*/false));
  HPU_ASSIGN_OR_RETURN(const recipes::Listing found, recipes::List(directory));
  report::v1::RecipeListing listing;
  for (const recipes::ListedEntry& entry : found.entries) Describe(entry, listing.add_entries());
  *listing.mutable_damaged() = {found.damaged.begin(), found.damaged.end()};
  *listing.mutable_notes() = {found.notes.begin(), found.notes.end()};
  *listing.mutable_pending() = {found.pending.begin(), found.pending.end()};
  return listing.SerializeAsString();
}

absl::StatusOr<std::string> Clean(const char* path, int64_t max_bytes, int64_t max_unused_s) {
  HPU_ASSIGN_OR_RETURN(const StoreDirectory directory, StoreDirectory::Open(path, /*make=*/false));
  recipes::EvictionLimits limits;
  if (max_bytes >= 0) limits.max_bytes = max_bytes;
  if (max_unused_s >= 0) limits.max_unused = absl::Seconds(max_unused_s);
  HPU_ASSIGN_OR_RETURN(const recipes::Eviction eviction, recipes::Evict(directory, limits));
  report::v1::RecipeCleaning cleaning;
  cleaning.set_entries(eviction.entries);
  cleaning.set_bytes(eviction.bytes);
  cleaning.set_in_use(eviction.in_use);
  cleaning.set_busy(eviction.busy);
  cleaning.set_leftovers(recipes::RemoveLeftovers(directory));
  cleaning.set_damaged(recipes::RemoveDamaged(directory));
  return cleaning.SerializeAsString();
}

absl::StatusOr<std::string> Read(const char* path, const char* key) {
  HPU_ASSIGN_OR_RETURN(const StoreDirectory directory, StoreDirectory::Open(path, /*make=*/false));
  return recipes::ReadEntry(directory, key);
}

absl::StatusOr<std::string> Inspect(const char* key, absl::string_view bytes) {
  recipes::ListedEntry entry{key, static_cast<int64_t>(bytes.size()), 0, recipes::Inspect(key, bytes)};
  HPU_RETURN_IF_ERROR(entry.contents.status());
  report::v1::RecipeEntry described;
  Describe(entry, &described);
  return described.SerializeAsString();
}

absl::StatusOr<std::string> Write(const char* path, const char* key, absl::string_view bytes) {
  HPU_ASSIGN_OR_RETURN(const StoreDirectory directory, StoreDirectory::Open(path, /*make=*/true));
  HPU_RETURN_IF_ERROR(recipes::WriteEntry(directory, key, bytes));
  return "";
}

absl::StatusOr<std::string> ProgramOf(const StoreDirectory& directory, const char* key) {
  HPU_ASSIGN_OR_RETURN(const std::string bytes, recipes::ReadEntry(directory, key));
  HPU_ASSIGN_OR_RETURN(const recipes::Contents contents, recipes::Inspect(key, bytes));
  return contents.ingredients.program();
}

absl::StatusOr<std::string> Compare(const char* path, const char* before, const char* now) {
  HPU_ASSIGN_OR_RETURN(const StoreDirectory directory, StoreDirectory::Open(path, /*make=*/false));
  HPU_ASSIGN_OR_RETURN(const std::string before_program, ProgramOf(directory, before));
  HPU_ASSIGN_OR_RETURN(const std::string now_program, ProgramOf(directory, now));
  const std::vector<std::string> differences = recipes::Differences(before_program, now_program);
  report::v1::TextList list;
  *list.mutable_texts() = {differences.begin(), differences.end()};
  return list.SerializeAsString();
}

// Stores the result or the message in `out`; returns the status code.
int32_t Return(const absl::StatusOr<std::string>& result, hpu_buffer* out) {
  *out = result.ok() ? MakeBuffer(*result) : MakeBuffer(result.status().message());
  return static_cast<int32_t>(result.status().code());
}

absl::string_view View(const void* bytes, size_t size) {
  return absl::string_view(static_cast<const char*>(bytes), size);
}

}  // namespace
}  // namespace hpu

extern "C" {

int32_t hpu_store_list(const char* path, hpu_buffer* out) { return hpu::Return(hpu::List(path), out); }

int32_t hpu_store_clean(const char* path, int64_t max_bytes, int64_t max_unused_s, hpu_buffer* out) {
  return hpu::Return(hpu::Clean(path, max_bytes, max_unused_s), out);
}

int32_t hpu_store_read(const char* path, const char* key, hpu_buffer* out) {
  return hpu::Return(hpu::Read(path, key), out);
}

int32_t hpu_store_inspect(const char* key, const void* bytes, size_t size, hpu_buffer* out) {
  return hpu::Return(hpu::Inspect(key, hpu::View(bytes, size)), out);
}

int32_t hpu_store_write(const char* path, const char* key, const void* bytes, size_t size, hpu_buffer* out) {
  return hpu::Return(hpu::Write(path, key, hpu::View(bytes, size)), out);
}

int32_t hpu_store_compare(const char* path, const char* before, const char* now, hpu_buffer* out) {
  return hpu::Return(hpu::Compare(path, before, now), out);
}

}  // extern "C"
