// CollectiveDevice: interface to a device that runs collectives together with the devices of the other ranks.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_PEERS_DEVICE_COLLECTIVES_H_
#define HPU_PLUGIN_BACKENDS_COMMON_PEERS_DEVICE_COLLECTIVES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "plugin/backends/common/checked_communicator.h"
#include "plugin/hal/stream.h"

namespace hpu::peers {

struct Operand;

// One rank's device, as the other ranks see it.
struct DeviceMember {
  uint64_t world = 0;   // equal on devices that can run one program together; 0: the device runs no collectives
  uint64_t device = 0;  // id of the device in its world
};

// A queued collective of one rank. A stream's thread calls the functions in this order. After an error, it calls no
// other function.
class DeviceCollective {
 public:
  virtual ~DeviceCollective() = default;

  // Does all work that can fail on one rank alone: compiles the program, waits for the source, allocates memory.
  virtual absl::Status Prepare() = 0;
  // Launches the collective. Requires that all ranks have prepared the same collective. `id`: not 0; equal on all
  // ranks, and different from the id of each other collective that has not ended.
  virtual absl::Status Launch(int32_t id) = 0;
  // Blocks until the launch has ended. `check` returns an error if a rank has failed or left. The launch then gets two
  // seconds to end; after them, Await fails with that error, although the device may still wait for the other ranks.
  virtual absl::Status Await(absl::FunctionRef<absl::Status()> check) = 0;
};

// Work on a stream's thread that runs a collective when its turn comes. `before` is the stream's error so far; if it is
// an error, `collective` is null. Returns the stream's error after the collective.
using CollectiveTurn = std::function<absl::Status(const absl::Status& before, DeviceCollective* collective)>;

// Implementations are thread safe.
class CollectiveDevice {
 public:
  virtual ~CollectiveDevice() = default;

  virtual DeviceMember member() const = 0;
  // Fails unless the devices, by rank, are in one world, or none of them runs collectives.
  virtual absl::Status CheckMembers(absl::Span<const DeviceMember> members) const = 0;
  // Queues `turn` on one of the device's streams. `turn` runs once, even if the stream has failed. `devices`: ids of
  // the ranks' devices. The collective has at least one element.
  virtual void QueueCollective(hal::Stream& stream, const common::Collective& collective, const Operand& source,
                               const Operand& destination, const std::vector<uint64_t>& devices,
                               CollectiveTurn turn) = 0;
};

}  // namespace hpu::peers

#endif  // HPU_PLUGIN_BACKENDS_COMMON_PEERS_DEVICE_COLLECTIVES_H_
