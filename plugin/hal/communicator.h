// Communicator: collective operations among devices, one per rank.
#ifndef HPU_PLUGIN_HAL_COMMUNICATOR_H_
#define HPU_PLUGIN_HAL_COMMUNICATOR_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/hal/stream.h"
#include "plugin/hal/types.h"

namespace hpu::hal {

enum class ReduceOp { kSum, kProduct, kMin, kMax, kAverage };

// Size of an operation's data. If the ranks of an operation pass different counts or shapes, the operation fails on
// these ranks with InvalidArgument, which lists each rank's value.
struct Elements {
  static constexpr size_t kMaxShapeBytes = 256;

  Elements(uint64_t count) : count(count) {}  // NOLINT(runtime/explicit): most callers have no shape
  Elements(uint64_t count, std::string shape) : count(count), shape(std::move(shape)) {}

  uint64_t count = 0;
  std::string shape;  // the caller's shape, e.g. "[2,3]", for comparison and messages; at most kMaxShapeBytes
};

struct CommunicatorOptions {
  // Result of Device::CreateCommunicatorId on rank 0. The caller distributes the id to the other ranks.
  std::string id;
  int rank = 0;  // 0 … size - 1
  int size = 1;  // number of ranks
  // Polled while waiting for other ranks; returning true ends the wait with Cancelled. Null: never cancelled.
  std::function<bool()> abandoned;
  // Rendezvous of ranks in different processes. Borrows the file descriptor of this rank's shared memory and blocks
  // until all ranks have joined. Returns a new descriptor of rank 0's memory, which the caller of `rendezvous` owns.
  // CreateCommunicator fails with the error of `rendezvous`, if any. Null: the backend joins the ranks itself.
  std::function<absl::StatusOr<int>(int segment)> rendezvous;
};

// Created by Device::CreateCommunicator, once per rank. All ranks call the same collectives in the same order. Calls
// queue work on the stream and return. Invalid addresses, counts and ranks fail immediately with
// InvalidArgument. Errors of peers and of the network become errors of the stream. Elements have type `dtype`. Source
// and destination may be the same address if their sizes are equal.
//
// One thread at a time. Must not outlive the Device; destruction waits for queued work.
class Communicator {
 public:
  virtual ~Communicator() = default;

  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  virtual absl::Status AllReduce(Stream& stream, DeviceAddress source, DeviceAddress destination,
                                 const Elements& elements, DataType dtype, ReduceOp op) = 0;
  // Reads the source of rank `root` only.
  virtual absl::Status Broadcast(Stream& stream, DeviceAddress source, DeviceAddress destination,
                                 const Elements& elements, DataType dtype, int root) = 0;
  // The destination holds size() blocks of `elements`, in rank order.
  virtual absl::Status AllGather(Stream& stream, DeviceAddress source, DeviceAddress destination,
                                 const Elements& elements, DataType dtype) = 0;
  // The source holds size() blocks of `elements`; rank r receives block r of the reduction.
  virtual absl::Status ReduceScatter(Stream& stream, DeviceAddress source, DeviceAddress destination,
                                     const Elements& elements, DataType dtype, ReduceOp op) = 0;
  virtual absl::Status Send(Stream& stream, DeviceAddress source, const Elements& elements, DataType dtype,
                            int peer) = 0;
  virtual absl::Status Receive(Stream& stream, DeviceAddress destination, const Elements& elements, DataType dtype,
                               int peer) = 0;

  // Sends and receives between BeginGroup and EndGroup start together, on one stream. A group must not contain other
  // operations. Without a group, two ranks that exchange data may deadlock, because a rank's Receive starts only after
  // the same rank's Send has ended.
  virtual absl::Status BeginGroup() = 0;
  virtual absl::Status EndGroup() = 0;

  // Ends work that waits for peers: the work fails with Cancelled and `reason`, which names a rank ("rank 2 has left").
  // An empty reason becomes "rank N has aborted the communicator". The communicator is unusable afterwards. May be
  // called on any thread.
  virtual void Abort(absl::string_view reason) = 0;

 protected:
  Communicator() = default;
};

}  // namespace hpu::hal

#endif  // HPU_PLUGIN_HAL_COMMUNICATOR_H_
