#include "plugin/backends/gaudi/device/engine_streams.h"

#include "plugin/base/log/log.h"
#include "plugin/base/status_macros.h"

namespace hpu::gaudi {

size_t EngineStreams::SlotOf(synapse::Engine engine) const {
  return library_.profile() == synapse::Profile::k1_5 ? static_cast<size_t>(engine) : 0;
}

absl::StatusOr<synapse::synStreamHandle> EngineStreams::Open(size_t slot) {
  if (streams_[slot].get() == nullptr) {
    HPU_ASSIGN_OR_RETURN(streams_[slot], library_.CreateStream(device_, static_cast<synapse::Engine>(slot)));
    SetAffinity(streams_[slot].get());
  }
  return streams_[slot].get();
}

// Spreads streams over the hardware's queues, if the release supports it.
void EngineStreams::SetAffinity(synapse::synStreamHandle stream) const {
  const synapse::v1_18::Functions& functions = library_.functions_1_18();
  if (functions.synDeviceGetNextStreamAffinity == nullptr || functions.synStreamSetAffinity == nullptr) return;
  uint64_t mask = 0;
  absl::Status status =
      HPU_SYNAPSE_CALL(functions, synDeviceGetNextStreamAffinity, (device_, &mask), "device=", device_);
  if (status.ok()) status = HPU_SYNAPSE_CALL(functions, synStreamSetAffinity, (device_, stream, mask), "mask=", mask);
  if (!status.ok()) {
    HPU_LOG(kBackend, kInfo) << "cannot set the affinity of a stream: " << status.message();
  }
}

absl::StatusOr<synapse::synStreamHandle> EngineStreams::Current() { return Open(slot_); }

absl::StatusOr<synapse::synStreamHandle> EngineStreams::For(synapse::Engine engine, const Mark* last) {
  const size_t slot = SlotOf(engine);
  HPU_ASSIGN_OR_RETURN(const synapse::synStreamHandle stream, Open(slot));
  if (slot != slot_ && last != nullptr) HPU_RETURN_IF_ERROR(last->WaitOn(stream));
  slot_ = slot;
  return stream;
}

void EngineStreams::Close() {
  for (synapse::OwnedStream& stream : streams_) {
    if (stream.get() == nullptr) continue;
    library_.functions().synStreamSynchronize(stream.get());  // its error is known or irrelevant
    stream = synapse::OwnedStream();
  }
}

}  // namespace hpu::gaudi
