// Communicator: collective operations among the devices of several processes.
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

// What an operation is about. The ranks agree on both, or all of them get an InvalidArgument that names each rank's.
struct Elements {
  static constexpr size_t kMaxShapeBytes = 256;

  Elements(uint64_t count) : count(count) {}  // NOLINT(runtime/explicit): most callers have no shape
  Elements(uint64_t count, std::string shape) : count(count), shape(std::move(shape)) {}

  uint64_t count = 0;
  std::string shape;  // what the caller sees them as, as "[2,3]"; at most kMaxShapeBytes
};

struct CommunicatorOptions {
  // What Device::CreateCommunicatorId gave to rank 0, handed to the others by the caller's own means.
  std::string id;
  int rank = 0;  // 0 … size - 1
  int size = 1;  // processes that take part
  // Asked now and then while other ranks are waited for: true ends that with Cancelled. Null waits to the end.
  std::function<bool()> abandoned;
  // Rendezvous of ranks in different processes. It borrows the file descriptor of shared memory that this rank has
  // made, blocks until all ranks have joined and returns a new descriptor of rank 0's memory, which the callee's caller
  // owns. An error ends CreateCommunicator. Null: the backend joins the ranks itself.
  std::function<absl::StatusOr<int>(int segment)> meet;
};

// Made by Device::CreateCommunicator in every process that takes part. All ranks call the same operations in the same
// order. Calls queue work on the stream and return, as those of Stream do: addresses, counts and ranks are checked at
// once (InvalidArgument), errors of peers and of the network are errors of the stream. Elements are of `dtype`; source
// and destination may be the same address where their sizes agree.
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
  // Only the source of rank `root` is read.
  virtual absl::Status Broadcast(Stream& stream, DeviceAddress source, DeviceAddress destination,
                                 const Elements& elements, DataType dtype, int root) = 0;
  // The destination holds size() times the elements, by rank.
  virtual absl::Status AllGather(Stream& stream, DeviceAddress source, DeviceAddress destination,
                                 const Elements& elements, DataType dtype) = 0;
  // The source holds size() times the elements; rank r receives the r-th part of the reduction.
  virtual absl::Status ReduceScatter(Stream& stream, DeviceAddress source, DeviceAddress destination,
                                     const Elements& elements, DataType dtype, ReduceOp op) = 0;
  virtual absl::Status Send(Stream& stream, DeviceAddress source, const Elements& elements, DataType dtype,
                            int peer) = 0;
  virtual absl::Status Receive(Stream& stream, DeviceAddress destination, const Elements& elements, DataType dtype,
                               int peer) = 0;

  // Operations between the two start together: Send and Receive of one rank need it not to wait for each other.
  virtual absl::Status BeginGroup() = 0;
  virtual absl::Status EndGroup() = 0;

  // Ends work that waits for peers with Cancelled and the reason, which names a rank ("rank 2 has gone"); empty: "rank
  // N has aborted the communicator". The communicator is of no use afterwards. May be called by any thread.
  virtual void Abort(absl::string_view reason) = 0;

 protected:
  Communicator() = default;
};

}  // namespace hpu::hal

#endif  // HPU_PLUGIN_HAL_COMMUNICATOR_H_
