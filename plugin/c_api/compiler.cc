#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hpu/report/v1/report.pb.h"
#include "plugin/base/interrupts/sigint.h"
#include "plugin/c_api/c_api.h"
#include "plugin/c_api/c_buffer.h"
#include "plugin/compiler/background/compile_queue.h"
#include "plugin/compiler/background/interruptible_compiles.h"
#include "plugin/compiler/launch_memory.h"
#include "plugin/compiler/recipe_cache.h"
#include "plugin/recipes/disk_cache.h"
#include "plugin/tensorflow/kernels/launch/learned_cluster.h"

hpu_buffer hpu_recipe_cache(void) {
  const hpu::RecipeCache::Counters& cache = hpu::RecipeCache::Get().counters();
  const hpu::recipes::StoreCounters& disk = hpu::recipes::DiskCache::Get().counters();
  const hpu::recipes::RemoteCounters& remote = hpu::recipes::DiskCache::Get().remote_counters();
  hpu::report::v1::RecipeCounters counters;
  counters.set_memory_hits(cache.memory_hits);
  counters.set_disk_hits(cache.disk_hits);
  counters.set_compiled(cache.compiled);
  counters.set_disk_misses(disk.misses);
  counters.set_stored(disk.stored);
  counters.set_refused(disk.refused);
  counters.set_evicted(disk.evicted);
  counters.set_waits(disk.waits);
  counters.set_wait_seconds(static_cast<double>(disk.wait_microseconds) * 1e-6);
  counters.set_remote_hits(remote.hits);
  counters.set_remote_misses(remote.misses);
  counters.set_remote_refused(remote.refused);
  counters.set_remote_failures(remote.failures);
  counters.set_uploaded(remote.uploaded);
  return hpu::MakeBuffer(counters.SerializeAsString());
}

hpu_buffer hpu_recipe_times(void) {
  hpu::report::v1::RecipeTimes times;
  for (const std::shared_ptr<const hpu::hal::Recipe>& recipe : hpu::RecipeCache::Get().Recipes()) {
    hpu::report::v1::RecipeTimes::Recipe& entry = *times.add_recipes();
    entry.set_name(std::string(recipe->name()));
    for (const hpu::hal::InstructionTime& time : recipe->times()) {
      hpu::report::v1::InstructionTime& instruction = *entry.add_instructions();
      instruction.set_instruction(time.instruction);
      instruction.set_kind(time.kind);
      instruction.set_op(time.op);
      instruction.set_op_type(time.op_type);
      instruction.set_seconds(time.seconds);
    }
  }
  return hpu::MakeBuffer(times.SerializeAsString());
}

hpu_buffer hpu_recipe_buffers(void) {
  hpu::report::v1::RecipeBuffers message;
  for (const std::shared_ptr<const hpu::hal::Recipe>& recipe : hpu::RecipeCache::Get().Recipes()) {
    const hpu::LaunchMemory memory = hpu::LaunchMemoryOf(*recipe);
    hpu::report::v1::RecipeBuffers::Recipe& entry = *message.add_recipes();
    entry.set_name(std::string(recipe->name()));
    entry.set_argument_bytes(memory.arguments);
    entry.set_result_bytes(memory.results);
    entry.set_workspace_bytes(memory.workspace);
    for (const hpu::hal::LaunchBuffer& buffer : recipe->buffers()) {
      hpu::report::v1::LaunchBuffer& added = *entry.add_buffers();
      added.set_kind(static_cast<int32_t>(buffer.kind));
      added.set_instruction(buffer.instruction);
      added.set_op(buffer.op);
      added.set_op_type(buffer.op_type);
      added.set_shape(buffer.shape);
      added.set_bytes(buffer.bytes);
      added.set_begin(buffer.begin);
      added.set_end(buffer.end);
    }
  }
  return hpu::MakeBuffer(message.SerializeAsString());
}

void hpu_recipe_cache_flush(void) {
  hpu::LearnedCluster::SaveAll();
  hpu::recipes::DiskCache::Get().Flush();
}

void hpu_recipe_cache_set_transfer_command(const char* const* command) {
  std::vector<std::string> words;
  for (; *command != nullptr; ++command) words.emplace_back(*command);
  hpu::recipes::DiskCache::Get().SetTransferCommand(std::move(words));
}

void hpu_interrupt_compiles(void) { hpu::InterruptibleCompiles::Get().Interrupt(); }

int32_t hpu_count_pending_call(void* count) {
  __atomic_add_fetch(static_cast<int32_t*>(count), 1, __ATOMIC_SEQ_CST);
  return 0;
}

int32_t hpu_sigint_descriptor(void) { return hpu::interrupts::SigintDescriptor(); }

void hpu_stop_compiling(void) {
  hpu::CompileQueue::Get().Stop();
  hpu::InterruptibleCompiles::Get().Stop();
}
