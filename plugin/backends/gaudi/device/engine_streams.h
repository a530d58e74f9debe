// EngineStreams: the SynapseAI streams that run the work of one HAL stream.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_ENGINE_STREAMS_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_ENGINE_STREAMS_H_

#include <array>
#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/backends/gaudi/device/mark_pool.h"
#include "plugin/backends/gaudi/synapse/library.h"

namespace hpu::gaudi {

// In release 1.18, one stream serves all engines. In 1.5, each engine that the HAL stream uses has a separate stream;
// work on another engine than the previous work waits for the previous work's mark. Borrows the library. Not thread
// safe.
class EngineStreams {
 public:
  EngineStreams(const synapse::Library& library, synapse::synDeviceId device, synapse::Engine first_engine)
      : library_(library), device_(device), slot_(SlotOf(first_engine)) {}
  ~EngineStreams() { Close(); }
  EngineStreams(const EngineStreams&) = delete;
  EngineStreams& operator=(const EngineStreams&) = delete;

  // The stream of the last work, or of the first engine.
  absl::StatusOr<synapse::synStreamHandle> Current();
  // The stream for an engine's work. If another stream ran the previous work, this stream waits for `last`, the mark of
  // the previous work; null if there is none. The caller keeps `last` until the engine's work has ended.
  absl::StatusOr<synapse::synStreamHandle> For(synapse::Engine engine, const Mark* last);
  // Waits for the streams' work and destroys the streams. Later calls open new streams: SynapseAI's streams may refuse
  // all work after a failure.
  void Close();

 private:
  static constexpr size_t kEngines = 5;

  size_t SlotOf(synapse::Engine engine) const;
  // Opens the stream of an engine, unless it is open.
  absl::StatusOr<synapse::synStreamHandle> Open(size_t slot);
  void SetAffinity(synapse::synStreamHandle stream) const;

  const synapse::Library& library_;
  const synapse::synDeviceId device_;
  std::array<synapse::OwnedStream, kEngines> streams_;
  size_t slot_;  // of the last work
};

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_ENGINE_STREAMS_H_
