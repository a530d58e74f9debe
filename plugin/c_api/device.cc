#include <cstdlib>
#include <optional>
#include <string>

#include "hpu/report/v1/report.pb.h"
#include "plugin/base/flags/flags.h"
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

report::v1::DeviceInfo DescribeDevice() {
  report::v1::DeviceInfo described;
  ProcessDevice* device = ProcessDevice::GetIfAcquired();
  described.set_acquired(device != nullptr);
  absl::StatusOr<hal::Backend*> backend = hal::GetBackend(flags::Backend());
  const absl::StatusOr<int> modules = backend.ok() ? (*backend)->ModuleCount() : backend.status();
  if (modules.ok()) {
    described.set_modules(*modules);
  } else {
    described.set_error(std::string(modules.status().message()));
  }
  if (device == nullptr) {
    described.set_backend(backend.ok() ? std::string((*backend)->name()) : flags::Backend());
    const absl::StatusOr<std::string> target = backend.ok() ? (*backend)->CompilerTarget() : backend.status();
    if (target.ok()) described.set_compiler_target(*target);
    absl::Status error = absl::IsUnimplemented(target.status()) ? absl::OkStatus() : target.status();
    if (error.ok()) error = ProcessDevice::CheckSettings();
    if (!error.ok() && described.error().empty()) described.set_error(std::string(error.message()));
    return described;
  }
  const hal::DeviceInfo& info = device->hal().info();
  described.set_backend(info.backend);
  described.set_type(info.type);
  described.set_description(info.description);
  described.set_module_id(info.module_id);
  described.set_memory_bytes(info.memory_bytes);
  described.set_compiler_target(info.compiler_target);
  described.set_host_pool_bytes(device->host_pool().size());
  return described;
}

// A figure of the device's library; -1 if it is unknown.
int64_t Figure(const std::optional<uint64_t>& figure) {
  return figure.has_value() ? static_cast<int64_t>(*figure) : -1;
}

}  // namespace
}  // namespace hpu

extern "C" {

void hpu_buffer_free(hpu_buffer* buffer) {
  std::free(buffer->data);
  *buffer = hpu_buffer{nullptr, 0};
}

hpu_buffer hpu_device_info(void) { return hpu::MakeBuffer(hpu::DescribeDevice().SerializeAsString()); }

hpu_memory hpu_memory_info(void) {
  const auto stats = hpu::DeviceAllocator()->GetStats().value_or(tensorflow::AllocatorStats());
  hpu_memory memory = {};
  memory.in_use = stats.bytes_in_use;
  memory.peak = stats.peak_bytes_in_use;
  memory.limit = stats.bytes_limit.value_or(0);
  memory.allocations = stats.num_allocs;
  hpu::ProcessDevice* device = hpu::ProcessDevice::GetIfAcquired();
  const hpu::hal::DeviceUsage usage = device == nullptr ? hpu::hal::DeviceUsage() : device->hal().usage();
  memory.reported_peak = hpu::Figure(usage.library_peak);
  memory.reported_limit = hpu::Figure(usage.library_limit);
  memory.reported_largest_free_block = hpu::Figure(usage.library_largest_free_block);
  memory.reported_pool = hpu::Figure(usage.library_pool);
  memory.reported_allocations = hpu::Figure(usage.library_allocations);
  if (device == nullptr) return memory;
  memory.workspace = device->workspace().size();
  memory.reported = static_cast<int64_t>(usage.memory_bytes);
  memory.buffers = static_cast<int64_t>(usage.buffers);
  memory.donated_arguments = static_cast<int64_t>(usage.donated_arguments);
  memory.kept_arguments = static_cast<int64_t>(usage.kept_arguments);
  return memory;
}

void hpu_memory_reset_peak(void) {
  const bool cleared = hpu::DeviceAllocator()->ClearStats();
  static_cast<void>(cleared);  // always true: DeviceAllocator() supports ClearStats
}

void hpu_offer_device(int32_t offered) { hpu::SetOffered(offered != 0); }

int32_t hpu_hide_from_importers(int32_t hidden) { return hpu::HideFromImporters(hidden != 0) ? 1 : 0; }

int32_t hpu_acquire(hpu_buffer* message) { return hpu::ReportStatus(hpu::ProcessDevice::Get().status(), message); }

int32_t hpu_synchronize(hpu_buffer* message) {
  hpu::ProcessDevice* device = hpu::ProcessDevice::GetIfAcquired();
  return hpu::ReportStatus(device == nullptr ? absl::OkStatus() : device->Synchronize(), message);
}

void hpu_interrupt(void) {
  if (hpu::ProcessDevice* device = hpu::ProcessDevice::GetIfAcquired(); device != nullptr) device->Interrupt();
}

int32_t hpu_consume_read_error(hpu_buffer* message) {
  return hpu::ReportStatus(hpu::HpuDevice::TakeFailedRead(), message);
}

}  // extern "C"
