#include "plugin/tensorflow/device/process_device.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/flags/flags.h"
#include "plugin/base/log/log.h"
#include "plugin/base/status_macros.h"
#include "plugin/hal/backend.h"
#include "plugin/tensorflow/device/arena.h"
#include "plugin/tensorflow/device/device_arena.h"
#include "plugin/tensorflow/device/fork_guard.h"
#include "plugin/tensorflow/device/host_pool.h"
#include "plugin/tensorflow/device/hpu_allocator.h"
#include "plugin/tensorflow/device/traced_stream.h"
#include "tsl/platform/env.h"
#include "tsl/platform/logging.h"
#include "tsl/platform/threadpool.h"

namespace hpu {
namespace {

std::atomic<ProcessDevice*> acquired{nullptr};

absl::StatusOr<hal::AcquireOptions> OptionsFromFlags() {
  hal::AcquireOptions options;
  if (const int64_t module = flags::HlsModuleId(); module >= 0) options.module_id = static_cast<int>(module);
  for (const std::string& text : flags::HabanaVisibleModules()) {
    int module = 0;
    if (text == "all") continue;
    if (!absl::SimpleAtoi(text, &module) || module < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("HABANA_VISIBLE_MODULES: invalid module number \"", text,
                       "\"; set it to numbers separated by commas, such as 0,1, or to all"));
    }
    options.visible.push_back(module);
  }
  constexpr int64_t kMaxMb = int64_t{1} << 43;  // more bytes than 64 bits can count
  options.memory_bytes = static_cast<uint64_t>(std::min(flags::MemoryMb(), kMaxMb)) << 20;
  return options;
}

std::unique_ptr<Workspace> WorkspaceFromFlags(tensorflow::Allocator* allocator, uint64_t limit) {
  int64_t initial = flags::HabanaInitialWorkspaceSizeMb();
  // Only a warning, because programs written for larger cards also set this flag.
  if (static_cast<uint64_t>(initial) > limit >> 20) {
    LOG(WARNING) << "HABANA_INITIAL_WORKSPACE_SIZE_MB=" << initial << " is ignored: the device has only "
                 << (limit >> 20) << " MiB; lower the setting";
    initial = 0;
  }
  return std::make_unique<Workspace>(allocator, initial << 20, flags::WorkspaceChunkMb() << 20);
}

}  // namespace

ProcessDevice::ProcessDevice() = default;
ProcessDevice::~ProcessDevice() = default;

absl::StatusOr<ProcessDevice*> ProcessDevice::Get() {
  if (IsForkedChild()) return ForkedChildError();
  if (ProcessDevice* device = acquired.load(std::memory_order_acquire)) return device;
  static auto* mutex = new std::mutex;
  std::lock_guard<std::mutex> lock(*mutex);
  if (ProcessDevice* device = acquired.load(std::memory_order_acquire)) return device;
  HPU_ASSIGN_OR_RETURN(ProcessDevice * device, Acquire());
  WatchForks();
  acquired.store(device, std::memory_order_release);
  device->workspace().Reserve();  // the workspace's allocator calls Get()
  return device;
}

absl::Status ProcessDevice::CheckSettings() {
  HPU_ASSIGN_OR_RETURN(hal::Backend * backend, hal::GetBackend(flags::Backend()));
  HPU_ASSIGN_OR_RETURN(const hal::AcquireOptions options, OptionsFromFlags());
  return backend->CheckOptions(options);
}

ProcessDevice* ProcessDevice::GetIfAcquired() {
  return IsForkedChild() ? nullptr : acquired.load(std::memory_order_acquire);
}

absl::StatusOr<ProcessDevice*> ProcessDevice::Acquire() {
  log::ReadSettings();
  HPU_ASSIGN_OR_RETURN(hal::Backend * backend, hal::GetBackend(flags::Backend()));
  HPU_ASSIGN_OR_RETURN(hal::AcquireOptions options, OptionsFromFlags());
  HPU_ASSIGN_OR_RETURN(std::unique_ptr<hal::Device> hal, backend->Acquire(options));
  // The deleter releases the module if Initialize fails.
  std::unique_ptr<ProcessDevice, void (*)(ProcessDevice*)> device(new ProcessDevice,
                                                                  [](ProcessDevice* failed) { delete failed; });
  HPU_RETURN_IF_ERROR(device->Initialize(std::move(hal)));
  const hal::DeviceInfo& info = device->device_->info();
  VLOG(1) << "Acquired " << info.description << ": " << info.memory_bytes << " bytes of device memory, "
          << device->host_pool_->size() << " bytes of host pool";
  HPU_LOG(kDevice, kInfo) << "acquired " << info.description << ": " << info.memory_bytes << " bytes of device memory, "
                          << device->host_pool_->size() << " bytes of host pool";
  return device.release();
}

absl::Status ProcessDevice::Initialize(std::unique_ptr<hal::Device> device) {
  constexpr int kCompletionThreads = 4;
  device_ = std::move(device);
  traits_ = device_->traits();
  if (traits_.host_results != nullptr) traits_.host_results->EnableHostResults();
  // Allocates all free device memory for the arena, which holds all tensors and workspaces.
  const uint64_t bytes = device_->memory_info().free_bytes;
  HPU_ASSIGN_OR_RETURN(memory_, device_->AllocateMemory(bytes));
  auto arena = std::make_unique<DeviceArena>(NewArena(reinterpret_cast<void*>(memory_->address()), bytes, "HPU_0_bfc",
                                                      tensorflow::AllocatorMemoryType::kDevice),
                                             memory_->address(), bytes, traits_.freed_ranges);
  PendingCopies* const copies = &arena->copies();
  arena_ = std::move(arena);
  HPU_ASSIGN_OR_RETURN(host_pool_, HostPool::Create(*device_));
  const auto make_stream = [&](hal::StreamKind kind, std::unique_ptr<hal::Stream>* stream) -> absl::Status {
    HPU_ASSIGN_OR_RETURN(*stream, device_->CreateStream(kind));
    *stream = WaitForCopies(TraceStream(std::move(*stream)), copies);
    return absl::OkStatus();
  };
  HPU_RETURN_IF_ERROR(make_stream(hal::StreamKind::kCompute, &compute_));
  HPU_RETURN_IF_ERROR(make_stream(hal::StreamKind::kHostToDevice, &host_to_device_));
  HPU_RETURN_IF_ERROR(make_stream(hal::StreamKind::kDeviceToHost, &device_to_host_));
  events_ = std::make_unique<EventPool>(device_.get());
  workspace_ = WorkspaceFromFlags(allocator(), bytes);
  completions_ = std::make_unique<tsl::thread::ThreadPool>(tsl::Env::Default(), tsl::ThreadOptions(), "hpu_completions",
                                                           kCompletionThreads, /*low_latency_hint=*/false);
  return absl::OkStatus();
}

void ProcessDevice::Interrupt() {
  if (traits_.interruptible != nullptr) traits_.interruptible->Interrupt();
}

tensorflow::Allocator* ProcessDevice::allocator() { return DeviceAllocator(); }
tensorflow::Allocator* ProcessDevice::host_allocator() { return HostAllocator(); }

}  // namespace hpu
