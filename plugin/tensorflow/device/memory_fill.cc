#include "plugin/tensorflow/device/memory_fill.h"

#include "plugin/base/flags/flags.h"

namespace hpu {
namespace {

int64_t FillByte() {
  static const int64_t byte = flags::FillMemory();
  return byte;
}

}  // namespace

bool FillsMemory() { return FillByte() >= 0; }

void FillMemory(ProcessDevice& device, hal::DeviceAddress address, uint64_t bytes) {
  // The stream keeps an error until the next copy or synchronisation returns the error.
  if (!device.compute().Fill(address, static_cast<uint8_t>(FillByte()), bytes).ok()) return;
  absl::StatusOr<EventPool::Lease> end = device.events().Record(device.compute());
  if (end.ok()) (*end)->Synchronize().IgnoreError();
}

}  // namespace hpu
