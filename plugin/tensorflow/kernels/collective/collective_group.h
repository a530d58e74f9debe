// CollectiveGroup: a group of workers with direct data exchange between their devices, without host memory.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_COLLECTIVE_COLLECTIVE_GROUP_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_COLLECTIVE_COLLECTIVE_GROUP_H_

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "plugin/hal/communicator.h"
#include "plugin/tensorflow/device/process_device.h"
#include "plugin/tensorflow/kernels/collective/collective_watch.h"

namespace hpu {

// One collective operation, as in hal::Communicator; kAllToAll sends part r to rank r. Addresses are in device memory
// and must stay valid until `done`. `elements`: as in hal::Communicator; for kAllToAll, of one part.
struct CollectiveOperation {
  enum class Kind { kAllReduce, kReduceScatter, kAllGather, kAllToAll, kBroadcast };

  Kind kind = Kind::kAllReduce;
  const hal::Event* ready = nullptr;  // reached when the source is computed; null: wait for all queued compute work
  hal::DeviceAddress source = 0;
  hal::DeviceAddress destination = 0;
  hal::Elements elements = 0;
  hal::DataType dtype = hal::DataType::kInvalid;
  hal::ReduceOp op = hal::ReduceOp::kSum;
  int root = 0;
};

// Operations run in call order on the group's own stream, in parallel with the compute stream. Thread safe; never
// destroyed.
class CollectiveGroup {
 public:
  // Creates the group for TensorFlow's group key. All ranks must pass the same communicator id. Ranks are in
  // TensorFlow's order; `tasks` holds each rank's task name. `in_calling_order`: all ranks issue the group's operations
  // eagerly and in the same order. AlreadyExists if the group exists.
  static absl::Status Join(int group_key, const hal::CommunicatorOptions& options, std::vector<std::string> tasks,
                           bool in_calling_order);
  // Returns null if the group does not exist.
  static CollectiveGroup* Find(int group_key);
  // Whether any group exists.
  static bool Any();

  int size() const { return communicator_->size(); }
  // The members, by rank.
  const std::vector<GroupMember>& members() const { return members_; }
  // Whether the group runs broadcasts. Sender and receiver may be in different graphs, so only a group whose ranks call
  // in the same order can run broadcasts.
  bool Broadcasts() const { return in_calling_order_; }
  // Queues the operation. Unless Queue returns an error, `done` runs on a thread of the plugin when the operation has
  // ended. Unavailable names the lost ranks.
  absl::Status Queue(const CollectiveOperation& operation, std::function<void(absl::Status)> done);
  // Fails all operations that wait for other ranks. The group is unusable afterwards.
  void Abort() { communicator_->Abort(""); }

 private:
  CollectiveGroup(ProcessDevice* device, std::unique_ptr<hal::Communicator> communicator,
                  std::unique_ptr<hal::Stream> stream, std::vector<GroupMember> members, bool in_calling_order)
      : device_(device),
        communicator_(std::move(communicator)),
        stream_(std::move(stream)),
        members_(std::move(members)),
        in_calling_order_(in_calling_order) {}

  absl::Status Order(const CollectiveOperation& operation);
  absl::Status Start(const CollectiveOperation& operation);
  absl::Status AllToAll(const CollectiveOperation& operation);
  absl::Status WithNames(const absl::Status& status) const;

  ProcessDevice* const device_;
  const std::unique_ptr<hal::Communicator> communicator_;
  const std::unique_ptr<hal::Stream> stream_;
  const std::vector<GroupMember> members_;
  const bool in_calling_order_;
  std::mutex mutex_;  // held while an operation is queued
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_COLLECTIVE_COLLECTIVE_GROUP_H_
