// CheckedCommunicator: argument checks shared by the communicators of all backends.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_CHECKED_COMMUNICATOR_H_
#define HPU_PLUGIN_BACKENDS_COMMON_CHECKED_COMMUNICATOR_H_

#include <vector>

#include "plugin/backends/common/device_memory.h"
#include "plugin/backends/common/liveness.h"
#include "plugin/hal/communicator.h"

namespace hpu::common {

// One rank's operands in a collective of hal::Communicator.
struct Collective {
  enum class Kind { kAllReduce, kReduceScatter, kAllGather, kBroadcast };

  Kind kind = Kind::kAllReduce;
  hal::DeviceAddress source = 0;  // 0 if this rank's source is not read
  hal::DeviceAddress destination = 0;
  hal::Elements elements = 0;
  hal::DataType dtype = hal::DataType::kInvalid;
  hal::ReduceOp op = hal::ReduceOp::kSum;
  int root = 0;
};

// One send to, or receive from, another rank.
struct Transfer {
  bool sends = false;
  int peer = 0;
  hal::DeviceAddress address = 0;
  hal::Elements elements = 0;
  hal::DataType dtype = hal::DataType::kInvalid;
};

// Checks addresses, counts, ranks, streams and groups, so that Queue receives only valid operations.
class CheckedCommunicator : public hal::Communicator {
 public:
  int rank() const final { return rank_; }
  int size() const final { return size_; }
  absl::Status AllReduce(hal::Stream& stream, hal::DeviceAddress source, hal::DeviceAddress destination,
                         const hal::Elements& elements, hal::DataType dtype, hal::ReduceOp op) final;
  absl::Status Broadcast(hal::Stream& stream, hal::DeviceAddress source, hal::DeviceAddress destination,
                         const hal::Elements& elements, hal::DataType dtype, int root) final;
  absl::Status AllGather(hal::Stream& stream, hal::DeviceAddress source, hal::DeviceAddress destination,
                         const hal::Elements& elements, hal::DataType dtype) final;
  absl::Status ReduceScatter(hal::Stream& stream, hal::DeviceAddress source, hal::DeviceAddress destination,
                             const hal::Elements& elements, hal::DataType dtype, hal::ReduceOp op) final;
  absl::Status Send(hal::Stream& stream, hal::DeviceAddress source, const hal::Elements& elements, hal::DataType dtype,
                    int peer) final;
  absl::Status Receive(hal::Stream& stream, hal::DeviceAddress destination, const hal::Elements& elements,
                       hal::DataType dtype, int peer) final;
  absl::Status BeginGroup() final;
  absl::Status EndGroup() final;

 protected:
  // Borrows `liveness` and `memory` from the device.
  CheckedCommunicator(const Liveness& liveness, const DeviceMemory& memory, int rank, int size)
      : liveness_(liveness), memory_(memory), rank_(rank), size_(size) {}

 private:
  virtual bool OwnsStream(const hal::Stream& stream) const = 0;
  virtual absl::Status Queue(hal::Stream& stream, const Collective& collective) = 0;
  // Queues concurrent transfers, at most one to each rank and one from each rank.
  virtual absl::Status Queue(hal::Stream& stream, std::vector<Transfer> transfers) = 0;

  absl::Status CheckStream(const hal::Stream& stream, const char* operation) const;
  absl::Status CheckRank(int rank, const char* what) const;
  // Checks that `parts` times `count` elements at `address` are in allocated device memory.
  absl::Status CheckElements(hal::DeviceAddress address, uint64_t parts, uint64_t count, hal::DataType dtype,
                             const char* what) const;
  // Checks the stream and the operands, and that no group is open. The source holds `source_parts` times the
  // collective's element count, the destination `destination_parts` times.
  absl::Status Check(hal::Stream& stream, const Collective& collective, uint64_t source_parts,
                     uint64_t destination_parts) const;
  absl::Status Add(hal::Stream& stream, const Transfer& transfer);

  const Liveness& liveness_;
  const DeviceMemory& memory_;
  const int rank_;
  const int size_;
  bool in_group_ = false;
  hal::Stream* group_stream_ = nullptr;
  std::vector<Transfer> group_;
};

}  // namespace hpu::common

#endif  // HPU_PLUGIN_BACKENDS_COMMON_CHECKED_COMMUNICATOR_H_
