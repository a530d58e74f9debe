// HelperPrograms: small device programs for operations without a PJRT call (fill, concatenate).
#ifndef HPU_PLUGIN_BACKENDS_PJRT_HELPER_PROGRAMS_H_
#define HPU_PLUGIN_BACKENDS_PJRT_HELPER_PROGRAMS_H_

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "plugin/backends/pjrt/address_map.h"
#include "plugin/backends/pjrt/client/client.h"

namespace hpu::pjrt {

// Compiles a program at the first call with its sizes, and caches the most recently used programs. Results are
// u8[bytes] buffers. Thread safe.
class HelperPrograms {
 public:
  explicit HelperPrograms(const Client& client) : client_(client) {}

  // `bytes` bytes of `value`, written by a launch that ends with *end.
  absl::StatusOr<BufferHandle> Fill(uint64_t bytes, uint8_t value, Event* end);
  // The concatenated pieces; zeros for pieces without a buffer.
  absl::StatusOr<BufferHandle> Concatenate(absl::Span<const AddressMap::Piece> pieces);

 private:
  using Entry = std::pair<std::string, std::shared_ptr<const Executable>>;

  absl::StatusOr<std::shared_ptr<const Executable>> Find(const std::string& stablehlo);
  absl::StatusOr<BufferHandle> Run(const std::string& stablehlo, absl::Span<PJRT_Buffer* const> arguments, Event* end);

  const Client& client_;
  std::mutex mutex_;
  std::list<Entry> recent_;                                  // most recently used first; guarded by mutex_
  std::map<std::string, std::list<Entry>::iterator> found_;  // by StableHLO; guarded by mutex_
};

// One device's part in the launch of a program of several devices.
struct CollectiveLaunch {
  PJRT_Device* device = nullptr;
  int32_t id = 0;  // not 0; the same on all devices, and not the id of another launch that has not ended
};

// Launches a program; returns the event of the launch's end. `results` receives one buffer per output. `kept`: indices
// of the arguments that are not donated. `collective`: for programs of Client::CompileCollective.
absl::StatusOr<Event> Execute(const Executable& executable, const Plugin& plugin,
                              absl::Span<PJRT_Buffer* const> arguments, absl::Span<const int64_t> kept,
                              absl::Span<PJRT_Buffer*> results, const CollectiveLaunch& collective = {});

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_HELPER_PROGRAMS_H_
