// HostExchange: device memory that a communicator reads and writes through host memory.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_HOST_EXCHANGE_H_
#define HPU_PLUGIN_BACKENDS_PJRT_HOST_EXCHANGE_H_

#include <vector>

#include "absl/status/status.h"
#include "plugin/backends/common/peers/peer_communicator.h"
#include "plugin/backends/pjrt/address_map.h"
#include "plugin/backends/pjrt/client/buffer_promise.h"

namespace hpu::pjrt {

class DeviceContents;

// Constructed when the exchange is queued; uses the contents that sources have then. Destinations are bound to buffers
// that are written later, so work queued after the exchange uses the exchange's results. Thread compatible.
class HostExchange {
 public:
  // A source or a destination of the exchange. At least one of the lists is empty.
  struct Operand {
    uint64_t bytes = 0;
    std::vector<AddressMap::Piece> source;
    std::vector<BufferPromise> destination;
  };

  explicit HostExchange(std::vector<Operand> operands) : operands_(std::move(operands)) {}

  // Copies the sources to host memory, runs `exchange` there, and copies the destinations to the device. Blocks. If
  // `before` is an error, passes it to `exchange` and copies nothing. Returns the stream's error after the exchange.
  // Call once.
  absl::Status Run(const peers::Exchange& exchange, const absl::Status& before, DeviceContents& contents);

 private:
  absl::Status ReadSources(DeviceContents& contents, absl::Span<char* const> data) const;
  absl::Status WriteDestinations(absl::Span<char* const> data);
  void FailDestinations(const absl::Status& error);

  std::vector<Operand> operands_;
};

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_HOST_EXCHANGE_H_
