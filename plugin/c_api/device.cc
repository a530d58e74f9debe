#include <cstdlib>
#include <string>

#include "plugin/base/flags/flags.h"
#include "plugin/base/json/json.h"
#include "plugin/c_api/c_api.h"
#include "plugin/c_api/c_buffer.h"
#include "plugin/hal/backend.h"
#include "plugin/tensorflow/device/host_pool.h"
#include "plugin/tensorflow/device/hpu_allocator.h"
#include "plugin/tensorflow/device/hpu_device.h"
#include "plugin/tensorflow/device/process_device.h"
#include "tsl/platform/status.h"

namespace hpu {
namespace {

std::string DescribeDevice() {
  JsonObject json;
  ProcessDevice* device = ProcessDevice::GetIfAcquired();
  json.Add("acquired", device != nullptr);
  absl::StatusOr<hal::Backend*> backend = hal::GetBackend(flags::Backend());
  absl::StatusOr<int> modules = backend.ok() ? (*backend)->ModuleCount() : backend.status();
  json.AddLiteral("modules", modules.ok() ? std::to_string(*modules) : "null");
  if (!modules.ok()) json.Add("error", modules.status().message());
  if (device == nullptr) {
    json.Add("backend", backend.ok() ? std::string((*backend)->name()) : flags::Backend());
    const absl::StatusOr<std::string> target = backend.ok() ? (*backend)->CompilerTarget() : backend.status();
    if (target.ok()) json.Add("compiler_target", *target);
    return std::move(json).Finish();
  }
  const hal::DeviceInfo& info = device->hal().info();
  json.Add("backend", info.backend);
  json.Add("type", info.type);
  json.Add("description", info.description);
  json.Add("module_id", info.module_id);
  json.Add("memory_bytes", info.memory_bytes);
  json.Add("compiler_target", info.compiler_target);
  json.Add("host_pool_bytes", device->host_pool().size());
  return std::move(json).Finish();
}

}  // namespace
}  // namespace hpu

extern "C" {

void hpu_buffer_free(hpu_buffer* buffer) {
  std::free(buffer->data);
  *buffer = hpu_buffer{nullptr, 0};
}

hpu_buffer hpu_device_info(void) { return hpu::MakeBuffer(hpu::DescribeDevice()); }

hpu_memory hpu_memory_info(void) {
  const auto stats = hpu::DeviceAllocator()->GetStats().value_or(tensorflow::AllocatorStats());
  hpu_memory memory = {};
  memory.in_use = stats.bytes_in_use;
  memory.peak = stats.peak_bytes_in_use;
  memory.limit = stats.bytes_limit.value_or(0);
  memory.allocations = stats.num_allocs;
  hpu::ProcessDevice* device = hpu::ProcessDevice::GetIfAcquired();
  memory.workspace = device == nullptr ? 0 : device->workspace().size();
  return memory;
}

void hpu_memory_reset_peak(void) {
  const bool cleared = hpu::DeviceAllocator()->ClearStats();
  static_cast<void>(cleared);  // fails before the device is acquired: nothing to clear
}

int32_t hpu_acquire(hpu_buffer* message) { return hpu::ReportStatus(hpu::ProcessDevice::Get().status(), message); }

int32_t hpu_synchronize(hpu_buffer* message) {
  hpu::ProcessDevice* device = hpu::ProcessDevice::GetIfAcquired();
  return hpu::ReportStatus(device == nullptr ? absl::OkStatus() : device->Synchronize(), message);
}

void hpu_interrupt(void) {
  if (hpu::ProcessDevice* device = hpu::ProcessDevice::GetIfAcquired(); device != nullptr) device->Interrupt();
}

int32_t hpu_take_failed_read(hpu_buffer* message) {
  return hpu::ReportStatus(hpu::HpuDevice::TakeFailedRead(), message);
}

}  // extern "C"
