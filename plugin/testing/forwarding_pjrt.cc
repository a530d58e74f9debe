#include "plugin/testing/forwarding_pjrt.h"

#include <dlfcn.h>
#include <string.h>

#include <atomic>
#include <mutex>
#include <vector>

namespace hpu::pjrt::forwarding_pjrt {
namespace {

const PJRT_Api* real = nullptr;
// Launches until the failing launch; negative: no launch fails.
std::atomic<int> launches_left{-1};
std::atomic<bool> failed_launch_consumes{false};
std::mutex statistics_mutex;
bool has_statistics = false;              // guarded by statistics_mutex
PJRT_Device_MemoryStats_Args statistics;  // guarded by statistics_mutex

// The only error of this plugin. All other errors are the real plugin's.
constexpr char kMessage[] = "Out of memory allocating 4096 bytes (injected).";
char own_error;

bool IsOwn(const PJRT_Error* error) { return reinterpret_cast<const char*>(error) == &own_error; }

void Destroy(PJRT_Error_Destroy_Args* args) {
  if (!IsOwn(args->error)) real->PJRT_Error_Destroy(args);
}

void Message(PJRT_Error_Message_Args* args) {
  if (!IsOwn(args->error)) return real->PJRT_Error_Message(args);
  args->message = kMessage;
  args->message_size = sizeof(kMessage) - 1;
}

PJRT_Error* GetCode(PJRT_Error_GetCode_Args* args) {
  if (!IsOwn(args->error)) return real->PJRT_Error_GetCode(args);
  args->code = PJRT_Error_Code_RESOURCE_EXHAUSTED;
  return nullptr;
}

template <typename Args>
Args Sized() {
  Args args;
  memset(&args, 0, sizeof(args));
  args.struct_size = sizeof(args);
  return args;
}

// Runs the program, which consumes the donated arguments, and destroys the results.
void Consume(PJRT_LoadedExecutable_Execute_Args* args) {
  auto get = Sized<PJRT_LoadedExecutable_GetExecutable_Args>();
  get.loaded_executable = args->executable;
  real->PJRT_LoadedExecutable_GetExecutable(&get);
  auto count = Sized<PJRT_Executable_NumOutputs_Args>();
  count.executable = get.executable;
  real->PJRT_Executable_NumOutputs(&count);
  auto drop = Sized<PJRT_Executable_Destroy_Args>();
  drop.executable = get.executable;
  real->PJRT_Executable_Destroy(&drop);

  std::vector<PJRT_Buffer*> results(count.num_outputs);
  PJRT_Buffer** lists[] = {results.data()};
  PJRT_LoadedExecutable_Execute_Args run = *args;
  run.output_lists = lists;
  run.device_complete_events = nullptr;
  if (real->PJRT_LoadedExecutable_Execute(&run) != nullptr) return;
  for (PJRT_Buffer* result : results) {
    auto destroy = Sized<PJRT_Buffer_Destroy_Args>();
    destroy.buffer = result;
    real->PJRT_Buffer_Destroy(&destroy);
  }
}

PJRT_Error* Execute(PJRT_LoadedExecutable_Execute_Args* args) {
  int left = launches_left.load();
  while (left >= 0 && !launches_left.compare_exchange_weak(left, left - 1)) {
  }
  if (left != 0) return real->PJRT_LoadedExecutable_Execute(args);
  if (failed_launch_consumes) Consume(args);
  return reinterpret_cast<PJRT_Error*>(&own_error);
}

PJRT_Error* MemoryStats(PJRT_Device_MemoryStats_Args* args) {
  std::lock_guard<std::mutex> lock(statistics_mutex);
  if (!has_statistics) return real->PJRT_Device_MemoryStats(args);
  const size_t size = args->struct_size;
  PJRT_Device* const device = args->device;
  *args = statistics;
  args->struct_size = size;
  args->device = device;
  return nullptr;
}

}  // namespace

extern "C" {

PJRT_Api* ForwardingApi(const PJRT_Api* api) {
  real = api;
  // The real table may be longer than the header's.
  auto* const copy = reinterpret_cast<PJRT_Api*>(new char[api->struct_size]);
  memcpy(copy, api, api->struct_size);
  copy->PJRT_Error_Destroy = Destroy;
  copy->PJRT_Error_Message = Message;
  copy->PJRT_Error_GetCode = GetCode;
  copy->PJRT_LoadedExecutable_Execute = Execute;
  copy->PJRT_Device_MemoryStats = MemoryStats;
  return copy;
}

void FailLaunch(int successes, int consumes) {
  failed_launch_consumes = consumes != 0;
  launches_left = successes;
}

void SetMemoryStats(int64_t in_use, int64_t peak, int64_t limit, int64_t largest_free_block, int64_t pool,
                    int64_t allocations) {
  std::lock_guard<std::mutex> lock(statistics_mutex);
  statistics = Sized<PJRT_Device_MemoryStats_Args>();
  statistics.bytes_in_use = in_use;
  statistics.peak_bytes_in_use = peak;
  statistics.peak_bytes_in_use_is_set = peak >= 0;
  statistics.bytes_limit = limit;
  statistics.bytes_limit_is_set = limit >= 0;
  statistics.largest_free_block_bytes = largest_free_block;
  statistics.largest_free_block_bytes_is_set = largest_free_block >= 0;
  statistics.pool_bytes = pool;
  statistics.pool_bytes_is_set = pool >= 0;
  statistics.num_allocs = allocations;
  statistics.num_allocs_is_set = allocations >= 0;
  has_statistics = in_use >= 0;
}

#ifdef HPU_FORWARDED_PLUGIN
HPU_FORWARDING_EXPORT const PJRT_Api* GetPjrtApi() {
  static const PJRT_Api* const api = [] {
    void* const library = dlopen(HPU_FORWARDED_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    return ForwardingApi(reinterpret_cast<const PJRT_Api* (*)()>(dlsym(library, "GetPjrtApi"))());
  }();
  return api;
}
#endif

}  // extern "C"

}  // namespace hpu::pjrt::forwarding_pjrt
