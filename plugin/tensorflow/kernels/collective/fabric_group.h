// FabricGroup: a group of workers whose devices exchange data among themselves, without their hosts.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_COLLECTIVE_FABRIC_GROUP_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_COLLECTIVE_FABRIC_GROUP_H_

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

// What the devices do, with the meaning that hal::Communicator gives to it; kAllToAll gives part r to rank r. Addresses
// lie in the device's memory and stay valid until `done`. `elements`: what one rank gives to or gets from one.
struct FabricOperation {
  enum class Kind { kAllReduce, kReduceScatter, kAllGather, kAllToAll, kBroadcast };

  Kind kind = Kind::kAllReduce;
  const hal::Event* ready = nullptr;  // when the source is made; null: with the compute work queued so far
  hal::DeviceAddress source = 0;
  hal::DeviceAddress destination = 0;
  hal::Elements elements = 0;
  hal::DataType dtype = hal::DataType::kInvalid;
  hal::ReduceOp op = hal::ReduceOp::kSum;
  int root = 0;
};

// Operations run on a stream of the group's own, beside the compute stream, in the order of the calls. Thread safe;
// never destroyed.
class FabricGroup {
 public:
  // Makes the group of TensorFlow's key. All its ranks call this, with the same id; ranks are TensorFlow's, and
  // `tasks` have their names. `in_calling_order`: all ranks issue all of the group's operations eagerly, in one
  // order. AlreadyExists if it is there.
  static absl::Status Join(int group_key, const hal::CommunicatorOptions& options, std::vector<std::string> tasks,
                           bool in_calling_order);
  // Null if there is none.
  static FabricGroup* Find(int group_key);
  // Whether there is any.
  static bool Any();

  int size() const { return communicator_->size(); }
  // By rank.
  const std::vector<GroupMember>& members() const { return members_; }
  // Whether it broadcasts: where a broadcast's ends may lie in different graphs, no order of the graph's is theirs.
  bool Broadcasts() const { return in_calling_order_; }
  // Queues it. `done` runs on a thread of the plugin when it has ended, unless an error is returned. Unavailable names
  // the ranks that are lost.
  absl::Status Queue(const FabricOperation& operation, std::function<void(absl::Status)> done);
  // Ends what waits for other ranks with an error; the group is of no further use.
  void Abort() { communicator_->Abort(""); }

 private:
  FabricGroup(ProcessDevice* device, std::unique_ptr<hal::Communicator> communicator,
              std::unique_ptr<hal::Stream> stream, std::vector<GroupMember> members, bool in_calling_order)
      : device_(device),
        communicator_(std::move(communicator)),
        stream_(std::move(stream)),
        members_(std::move(members)),
        in_calling_order_(in_calling_order) {}

  absl::Status Order(const FabricOperation& operation);
  absl::Status Start(const FabricOperation& operation);
  absl::Status AllToAll(const FabricOperation& operation);
  absl::Status WithNames(const absl::Status& status) const;

  ProcessDevice* const device_;
  const std::unique_ptr<hal::Communicator> communicator_;
  const std::unique_ptr<hal::Stream> stream_;
  const std::vector<GroupMember> members_;
  const bool in_calling_order_;
  std::mutex mutex_;  // one operation is queued at a time
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_COLLECTIVE_FABRIC_GROUP_H_
