// DeviceExchange: a collective that the ranks' devices run as one program.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_DEVICE_EXCHANGE_H_
#define HPU_PLUGIN_BACKENDS_PJRT_DEVICE_EXCHANGE_H_

#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "plugin/backends/common/peers/device_collectives.h"
#include "plugin/backends/pjrt/address_map.h"
#include "plugin/backends/pjrt/client/client.h"
#include "plugin/backends/pjrt/world.h"

namespace hpu::pjrt {

class DeviceContents;

// Constructed when the collective is queued; uses the contents that the source has then. The destination is bound to a
// buffer without a handle, so work queued after the collective waits for its launch, and uses its result. Destroyed by
// the stream's thread.
class DeviceExchange final : public peers::DeviceCollective {
 public:
  struct Program {
    std::string stablehlo;
    std::vector<int64_t> devices;  // ids, by rank
    uint64_t source_bytes = 0;
  };

  // `source`: empty if the program does not use this rank's source. `destination`: a buffer whose `launched` is the
  // future of `launched`.
  DeviceExchange(DeviceContents& contents, World& world, const Client& client, Program program,
                 std::vector<AddressMap::Piece> source, SharedBufferPtr destination, std::promise<void> launched)
      : contents_(contents),
        world_(world),
        client_(client),
        program_(std::move(program)),
        source_(std::move(source)),
        destination_(std::move(destination)),
        launched_(std::move(launched)) {}
  ~DeviceExchange() override;

  absl::Status Prepare() override;
  absl::Status Launch(int32_t id) override;
  absl::Status Await(absl::FunctionRef<absl::Status()> check) override;

  // Work that uses the destination fails with `error`. Has no effect after a successful Launch.
  void Fail(const absl::Status& error);

 private:
  DeviceContents& contents_;
  World& world_;
  const Client& client_;
  const Program program_;
  std::vector<AddressMap::Piece> source_;
  const SharedBufferPtr destination_;
  std::promise<void> launched_;
  bool has_ended_ = false;  // Launch or Fail has set the destination's handle or error
  SharedBufferPtr argument_;
  std::shared_ptr<const Executable> executable_;
  Event end_;
};

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_DEVICE_EXCHANGE_H_
