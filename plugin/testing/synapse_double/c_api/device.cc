// C functions: count, acquire and release of devices, and their properties.
#include "plugin/testing/synapse_double/runtime/device.h"

#include <numeric>
#include <string>
#include <vector>

#include "plugin/testing/synapse_double/c_api/exports.h"
#include "plugin/testing/synapse_double/runtime/guard.h"
#include "plugin/testing/synapse_double/runtime/handles.h"
#include "plugin/testing/synapse_double/runtime/process.h"
#include "plugin/testing/synapse_double/runtime/release.h"
#include "plugin/testing/synapse_double/runtime/stream.h"
#include "plugin/testing/synapse_double/runtime/switches.h"
#include "plugin/testing/synapse_double/runtime/text_result.h"

namespace hpu::synapse {
namespace {

using synapse_double::CheckArrayGuard;
using synapse_double::Device;
using synapse_double::GetSwitches;
using synapse_double::Refuse;
using synapse_double::Rule;
using synapse_double::Text;

// Arbitrary values.
constexpr uint64_t kSramBase = 0x1000'0000'0000'0000;
constexpr uint32_t kSramBytes = 48 << 20;
constexpr uint64_t kTpcMask = 0xFF;
constexpr uint64_t kClockRate = 1000;
constexpr uint64_t kMaxRmwBytes = 4 << 20;
constexpr uint64_t kStreamsBytes = 1 << 20;

uint32_t ThisDeviceType() { return synapse_double::ThisRelease().device_type(GetSwitches().generation); }

std::vector<uint32_t> AllModules() {
  std::vector<uint32_t> modules(GetSwitches().devices);
  std::iota(modules.begin(), modules.end(), 0);
  return modules;
}

synStatus AcquireOneOf(const std::vector<uint32_t>& modules, synDeviceId* device, const std::string& wanted) {
  SYNAPSE_DOUBLE_REQUIRE_POINTER(device);
  if (modules.empty()) {
    return Fail(Rule::kAcquire, synNoDeviceFound,
                Text("no ", wanted, ": the machine has ", GetSwitches().devices, " devices ",
                     GenerationName(GetSwitches().generation)));
  }
  return Device::Acquire(modules, device);
}

// `free_bytes`: of the device's memory.
synStatus GetAttributes(uint64_t* values, const synDeviceAttribute* attributes, unsigned count, uint64_t free_bytes) {
  SYNAPSE_DOUBLE_REQUIRE_POINTER(values);
  SYNAPSE_DOUBLE_REQUIRE_POINTER(attributes);
  for (unsigned i = 0; i < count; ++i) {
    switch (attributes[i]) {
      case DEVICE_ATTRIBUTE_SRAM_BASE_ADDRESS:
        values[i] = kSramBase;
        break;
      case DEVICE_ATTRIBUTE_DRAM_BASE_ADDRESS:
        values[i] = synapse_double::kDeviceMemoryBase;
        break;
      case DEVICE_ATTRIBUTE_SRAM_SIZE:
        values[i] = kSramBytes;
        break;
      case DEVICE_ATTRIBUTE_DRAM_SIZE:
        values[i] = GetSwitches().device_bytes;
        break;
      case DEVICE_ATTRIBUTE_DRAM_FREE_SIZE:
        values[i] = free_bytes;
        break;
      case DEVICE_ATTRIBUTE_TPC_ENABLED_MASK:
        values[i] = kTpcMask;
        break;
      case DEVICE_ATTRIBUTE_DRAM_ENABLED:
        values[i] = 1;
        break;
      case DEVICE_ATTRIBUTE_DEVICE_TYPE:
        values[i] = ThisDeviceType();
        break;
      case DEVICE_ATTRIBUTE_CLK_RATE:
        values[i] = kClockRate;
        break;
      case DEVICE_ATTRIBUTE_MAX_RMW_SIZE:
        values[i] = kMaxRmwBytes;
        break;
      case DEVICE_ATTRIBUTE_STREAMS_TOTAL_MEM_SIZE:
        values[i] = kStreamsBytes;
        break;
#ifdef SYNAPSE_DOUBLE_1_5
      case DEVICE_ATTRIBUTE_MAX_DIMS:
        values[i] = SYN_MAX_TENSOR_DIM;
        break;
#else
      case DEVICE_ATTRIBUTE_ADDRESS_ALIGNMENT_SIZE:
        values[i] = synapse_double::kAddressAlignment;
        break;
      case DEVICE_ATTRIBUTE_MAX_DIMS:
        values[i] = SYN_GAUDI_MAX_TENSOR_DIM;
        break;
#endif
      default:
        return Refuse(Rule::kArguments, synInvalidArgument,
                      Text("no attribute ", static_cast<uint32_t>(attributes[i]), " in this release"));
    }
  }
  return synSuccess;
}

// Fills the fields that synDeviceInfo and synDeviceInfoV2 share.
template <typename Info>
void FillInfo(const Device& device, Info* info) {
  *info = Info{};
  info->sramBaseAddress = kSramBase;
  info->dramBaseAddress = synapse_double::kDeviceMemoryBase;
  info->sramSize = kSramBytes;
  info->dramSize = GetSwitches().device_bytes;
  info->tpcEnabledMask = kTpcMask;
  info->dramEnabled = 1;
  info->deviceId = device.id();
  info->fd = 0;
  info->deviceType = static_cast<decltype(info->deviceType)>(ThisDeviceType());
}

}  // namespace

synStatus synDeviceGetCount(uint32_t* count) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(count);
  *count = GetSwitches().devices;
  return synSuccess;
}

synStatus synDeviceGetCountByDeviceType(uint32_t* count, const synDeviceType type) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(count);
  *count = type == ThisDeviceType() ? GetSwitches().devices : 0;
  return synSuccess;
}

synStatus synDeviceAcquire(synDeviceId* device, const char* pci_bus) {
  SYNAPSE_DOUBLE_CALL();
  if (pci_bus == nullptr) return AcquireOneOf(AllModules(), device, "device");
  std::vector<uint32_t> modules;
  for (const uint32_t module : AllModules()) {
    if (synapse_double::PciBusId(module) == pci_bus) modules.push_back(module);
  }
  return AcquireOneOf(modules, device, Text("device at PCI bus ", pci_bus));
}

synStatus synDeviceAcquireByDeviceType(synDeviceId* device, const synDeviceType type) {
  SYNAPSE_DOUBLE_CALL();
  const std::vector<uint32_t> modules = type == ThisDeviceType() ? AllModules() : std::vector<uint32_t>();
  return AcquireOneOf(modules, device, Text("device of type ", static_cast<uint32_t>(type)));
}

synStatus synDeviceAcquireByModuleId(synDeviceId* device, const synModuleId module) {
  SYNAPSE_DOUBLE_CALL();
  std::vector<uint32_t> modules;
  if (module < GetSwitches().devices) modules.push_back(module);
  return AcquireOneOf(modules, device, Text("module ", module));
}

synStatus synDeviceRelease(const synDeviceId device) {
  SYNAPSE_DOUBLE_CALL();
  return Device::Release(device);
}

synStatus synDeviceSynchronize(const synDeviceId device) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Device> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Device::Find(device, &found));
  synStatus first = synSuccess;
  for (const auto& stream : synapse_double::Handles::Get().All<synapse_double::Stream>()) {
    const synStatus status = stream->Synchronize();
    if (first == synSuccess) first = status;
  }
  return first;
}

synStatus synDeviceGetName(char* name, const int length, const synDeviceId device) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Device> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Device::Find(device, &found));
  return synapse_double::CopyText(Text("double of ", GenerationName(GetSwitches().generation)), name, length);
}

synStatus synDeviceGetMemoryInfo(const synDeviceId device, uint64_t* free, uint64_t* total) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Device> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Device::Find(device, &found));
  SYNAPSE_DOUBLE_REQUIRE_POINTER(free);
  SYNAPSE_DOUBLE_REQUIRE_POINTER(total);
  *free = found->memory().free_bytes();
  *total = found->memory().capacity();
  return synSuccess;
}

synStatus synDeviceGetInfo(const synDeviceId device, synDeviceInfo* info) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Device> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Device::Find(device, &found));
  SYNAPSE_DOUBLE_REQUIRE_POINTER(info);
  CheckArrayGuard(info, 1, "info");
  FillInfo(*found, info);
  return synSuccess;
}

synStatus synDeviceGetAttribute(uint64_t* values, const synDeviceAttribute* attributes, const unsigned count,
                                const synDeviceId device) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Device> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Device::Find(device, &found));
  return GetAttributes(values, attributes, count, found->memory().free_bytes());
}

synStatus synDeviceTypeGetAttribute(uint64_t* values, const synDeviceAttribute* attributes, const unsigned count,
                                    const synDeviceType type) {
  SYNAPSE_DOUBLE_CALL();
  if (type != ThisDeviceType()) {
    return Refuse(Rule::kArguments, synInvalidArgument,
                  Text("no device of type ", static_cast<uint32_t>(type), ": the machine has type ", ThisDeviceType()));
  }
  return GetAttributes(values, attributes, count, GetSwitches().device_bytes);
}

#ifndef SYNAPSE_DOUBLE_1_5

synStatus synDeviceCount(uint32_t counts[synDeviceTypeSize]) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(counts);
  for (uint32_t type = 0; type < synDeviceTypeSize; ++type) {
    counts[type] = type == ThisDeviceType() ? GetSwitches().devices : 0;
  }
  return synSuccess;
}

// `count` is the array's size before the call, and the number of modules after it.
synStatus synDeviceGetModuleIDs(uint32_t* modules, uint32_t* count) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(modules);
  SYNAPSE_DOUBLE_REQUIRE_POINTER(count);
  const std::vector<uint32_t> all = AllModules();
  if (*count < all.size()) {
    return Refuse(Rule::kArguments, synInvalidArgument, Text("room for ", *count, " of ", all.size(), " modules"));
  }
  std::copy(all.begin(), all.end(), modules);
  *count = all.size();
  return synSuccess;
}

synStatus synDeviceGetPCIBusId(char* bus, const int length, const synDeviceId device) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Device> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Device::Find(device, &found));
  return synapse_double::CopyText(synapse_double::PciBusId(found->module()), bus, length);
}

synStatus synDeviceGetInfoV2(const synDeviceId device, synDeviceInfoV2* info) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Device> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Device::Find(device, &found));
  SYNAPSE_DOUBLE_REQUIRE_POINTER(info);
  CheckArrayGuard(info, 1, "info");
  FillInfo(*found, info);
  info->deviceIndex = found->module();
  return synSuccess;
}

synStatus synDeviceGetAttributeByModuleId(uint64_t* values, const synDeviceAttribute* attributes, const unsigned count,
                                          const synModuleId module) {
  SYNAPSE_DOUBLE_CALL();
  if (module >= GetSwitches().devices) {
    return Refuse(Rule::kArguments, synInvalidArgument, Text("no module ", module));
  }
  const std::shared_ptr<Device> current = Device::Current();
  const bool is_held = current != nullptr && current->module() == module;
  return GetAttributes(values, attributes, count,
                       is_held ? current->memory().free_bytes() : GetSwitches().device_bytes);
}

#endif

}  // namespace hpu::synapse
