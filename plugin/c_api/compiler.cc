#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/base/json/json.h"
#include "plugin/c_api/c_api.h"
#include "plugin/c_api/c_buffer.h"
#include "plugin/compiler/background/compile_queue.h"
#include "plugin/compiler/dynamic_shapes/row_independence.h"
#include "plugin/compiler/recipe_cache.h"
#include "plugin/recipes/disk_cache.h"

hpu_buffer hpu_recipe_cache(void) {
  const hpu::RecipeCache::Counters& cache = hpu::RecipeCache::Get().counters();
  const hpu::store::StoreCounters& disk = hpu::DiskCache::Get().counters();
  const hpu::store::RemoteCounters& remote = hpu::DiskCache::Get().remote_counters();
  return hpu::MakeBuffer(
      absl::StrCat("{\"memory_hits\": ", cache.memory_hits.load(), ", \"disk_hits\": ", cache.disk_hits.load(),
                   ", \"compiled\": ", cache.compiled.load(), ", \"disk_misses\": ", disk.misses.load(),
                   ", \"stored\": ", disk.stored.load(), ", \"refused\": ", disk.refused.load(),
                   ", \"evicted\": ", disk.evicted.load(), ", \"waits\": ", disk.waits.load(), ", \"wait_seconds\": ",
                   static_cast<double>(disk.wait_microseconds.load()) * 1e-6, ", \"remote_hits\": ", remote.hits.load(),
                   ", \"remote_misses\": ", remote.misses.load(), ", \"remote_refused\": ", remote.refused.load(),
                   ", \"remote_failures\": ", remote.failures.load(), ", \"uploaded\": ", remote.uploaded.load(), "}"));
}

hpu_buffer hpu_recipe_times(void) {
  const auto add_time = [](std::string* out, const hpu::hal::InstructionTime& time) {
    hpu::JsonObject json;
    json.Add("instruction", time.instruction);
    json.Add("kind", time.kind);
    json.Add("op", time.op);
    json.Add("op_type", time.op_type);
    json.Add("seconds", time.seconds);
    out->append(std::move(json).Finish());
  };
  const auto add_recipe = [&](std::string* out, const std::shared_ptr<const hpu::hal::Recipe>& recipe) {
    hpu::JsonObject json;
    json.Add("name", recipe->name());
    json.AddLiteral("instructions", hpu::JsonList(recipe->times(), add_time));
    out->append(std::move(json).Finish());
  };
  return hpu::MakeBuffer(hpu::JsonList(hpu::RecipeCache::Get().Recipes(), add_recipe));
}

void hpu_recipe_cache_flush(void) { hpu::DiskCache::Get().Flush(); }

void hpu_recipe_cache_set_transfer_command(const char* const* command) {
  std::vector<std::string> words;
  for (; *command != nullptr; ++command) words.emplace_back(*command);
  hpu::DiskCache::Get().SetTransferCommand(std::move(words));
}

int32_t hpu_check_rows(const void* program, size_t size, int64_t rows, const void* padded, size_t padded_size,
                       int64_t padded_rows, hpu_buffer* message) {
  const absl::Status status = hpu::CheckRowIndependence(
      {"program", std::string(static_cast<const char*>(program), size)},
      {"padded program", std::string(static_cast<const char*>(padded), padded_size)}, {rows, padded_rows});
  *message = hpu::MakeBuffer(std::string(status.message()));
  return static_cast<int32_t>(status.code());
}

void hpu_stop_compiling(void) { hpu::CompileQueue::Get().Stop(); }
