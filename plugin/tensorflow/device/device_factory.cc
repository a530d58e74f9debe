// Factory of TensorFlow's HPU devices.
#include "tensorflow/core/framework/device_factory.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/base/cards/cards.h"
#include "plugin/base/flags/flags.h"
#include "plugin/tensorflow/device/hpu_device.h"
#include "plugin/tensorflow/device/process_device.h"
#include "tensorflow/core/public/session_options.h"

namespace hpu {
namespace {

// A process holds one device.
constexpr int kDevices = 1;
// Device priority, above CPU and GPU: TensorFlow places ops without a requested device on the HPU.
constexpr int kPriority = 300;

std::atomic<bool> is_offered{true};
thread_local bool is_hidden_from_importers = false;

// Number of HPU devices of a session with `config`.
int DeviceCount(const tensorflow::ConfigProto& config) {
  const auto& counts = config.device_count();
  if (const auto given = counts.find(kDeviceType); given != counts.end()) return std::clamp(given->second, 0, kDevices);
  // tf.config.set_visible_devices hides the HPU by leaving it out of device_count. The eager context's config always
  // counts CPUs and GPUs and has experimental GPU options. A program's own ConfigProto(device_count={"CPU": 1}) does
  // not hide the HPU.
  const bool from_eager_context =
      counts.contains("CPU") && counts.contains("GPU") && config.gpu_options().has_experimental();
  return from_eager_context || is_hidden_from_importers ? 0 : kDevices;
}

// Memory limit of the device; does not acquire the device.
uint64_t MemoryLimit() {
  if (ProcessDevice* device = ProcessDevice::GetIfAcquired()) return device->hal().info().memory_bytes;
  return static_cast<uint64_t>(std::max<int64_t>(cards::MemoryMb(), 0)) << 20;
}

class HpuDeviceFactory : public tensorflow::DeviceFactory {
 public:
  tensorflow::Status ListPhysicalDevices(std::vector<std::string>* devices) override {
    if (IsOffered()) devices->push_back(absl::StrCat("/physical_device:", kDeviceType, ":0"));
    return absl::OkStatus();
  }

  tensorflow::Status GetDeviceDetails(int index, std::unordered_map<std::string, std::string>* details) override {
    (*details)["device_name"] = flags::DeviceType();
    if (ProcessDevice* device = ProcessDevice::GetIfAcquired()) {
      (*details)["device_name"] = device->hal().info().description;
    }
    return absl::OkStatus();
  }

  tensorflow::Status CreateDevices(const tensorflow::SessionOptions& options, const std::string& name_prefix,
                                   std::vector<std::unique_ptr<tensorflow::Device>>* devices) override {
    if (!IsOffered() || DeviceCount(options.config) == 0) return absl::OkStatus();
    const tensorflow::DeviceAttributes attributes = tensorflow::Device::BuildDeviceAttributes(
        absl::StrCat(name_prefix, "/device:", kDeviceType, ":0"), tensorflow::DeviceType(kDeviceType),
        tensorflow::Bytes(MemoryLimit()), tensorflow::DeviceLocality(), "HPU");
    devices->push_back(std::make_unique<HpuDevice>(options, attributes));
    return absl::OkStatus();
  }
};

// Registered as a pluggable device: TensorFlow copies between host and device memory inside a single-device function
// only for GPUs and pluggable devices (EnsureMemoryTypes).
[[maybe_unused]] const bool factory_registered = [] {
  tensorflow::DeviceFactory::Register(kDeviceType, std::make_unique<HpuDeviceFactory>(), kPriority,
                                      /*is_pluggable_device=*/true);
  return true;
}();

}  // namespace

void SetOffered(bool offered) { is_offered.store(offered); }
bool IsOffered() { return is_offered.load(); }
bool HideFromImporters(bool hidden) { return std::exchange(is_hidden_from_importers, hidden); }

}  // namespace hpu
