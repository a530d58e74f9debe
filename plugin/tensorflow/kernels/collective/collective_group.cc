#include "plugin/tensorflow/kernels/collective/collective_group.h"

#include <atomic>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/version/contact.h"
#include "tsl/platform/env.h"
#include "tsl/platform/threadpool.h"

namespace hpu {
namespace {

struct Groups {
  std::mutex mutex;
  std::map<int, CollectiveGroup*> by_key;  // guarded by mutex
  std::atomic<bool> any{false};
};

Groups& AllGroups() {
  static auto* groups = new Groups;
  return *groups;
}

// Thread for the callers' `done` callbacks, which acquire TensorFlow's locks. A stream's callback must not block.
tsl::thread::ThreadPool& Completions() {
  static auto* pool = new tsl::thread::ThreadPool(tsl::Env::Default(), "hpu_peers", /*num_threads=*/1);
  return *pool;
}

}  // namespace

absl::Status CollectiveGroup::Join(int group_key, const hal::CommunicatorOptions& options,
                                   std::vector<std::string> tasks, bool in_calling_order) {
  if (Find(group_key) != nullptr) {
    return absl::AlreadyExistsError(absl::StrCat("this process has already joined a communicator for collective group ",
                                                 group_key, "; join each group once"));
  }
  HPU_ASSIGN_OR_RETURN(ProcessDevice * device, ProcessDevice::Get());
  HPU_ASSIGN_OR_RETURN(auto communicator, device->hal().CreateCommunicator(options));
  HPU_ASSIGN_OR_RETURN(auto stream, device->hal().CreateStream(hal::StreamKind::kCompute));
  std::vector<GroupMember> members;
  for (std::string& task : tasks) {
    const bool is_local = static_cast<int>(members.size()) == options.rank;
    members.push_back({std::move(task), is_local});
  }
  auto* group =
      new CollectiveGroup(device, std::move(communicator), std::move(stream), std::move(members), in_calling_order);
  Groups& groups = AllGroups();
  std::lock_guard<std::mutex> lock(groups.mutex);
  groups.by_key[group_key] = group;
  groups.any = true;
  return absl::OkStatus();
}

CollectiveGroup* CollectiveGroup::Find(int group_key) {
  if (!Any()) return nullptr;
  Groups& groups = AllGroups();
  std::lock_guard<std::mutex> lock(groups.mutex);
  const auto found = groups.by_key.find(group_key);
  return found == groups.by_key.end() ? nullptr : found->second;
}

bool CollectiveGroup::Any() { return AllGroups().any; }

absl::Status CollectiveGroup::Order(const CollectiveOperation& operation) {
  if (operation.ready != nullptr) {
    HPU_RETURN_IF_ERROR(stream_->Wait(*operation.ready));
  } else {
    HPU_RETURN_IF_ERROR(device_->events().Order(device_->compute(), *stream_));
  }
  using Kind = CollectiveOperation::Kind;
  const Kind kind = operation.kind;
  const uint64_t bytes = operation.elements.count * hal::SizeOf(operation.dtype);
  const int from = kind == Kind::kReduceScatter || kind == Kind::kAllToAll ? size() : 1;
  const int to = kind == Kind::kAllGather || kind == Kind::kAllToAll ? size() : 1;
  HPU_RETURN_IF_ERROR(device_->OrderAfterCopies(operation.source, bytes * from, *stream_));
  return device_->OrderAfterCopies(operation.destination, bytes * to, *stream_);
}

absl::Status CollectiveGroup::AllToAll(const CollectiveOperation& operation) {
  const uint64_t bytes = operation.elements.count * hal::SizeOf(operation.dtype);
  HPU_RETURN_IF_ERROR(communicator_->BeginGroup());
  absl::Status status;
  for (int rank = 0; rank < size(); ++rank) {
    if (rank == communicator_->rank()) continue;
    const hal::DeviceAddress from = operation.source + rank * bytes;
    const hal::DeviceAddress to = operation.destination + rank * bytes;
    status.Update(communicator_->Send(*stream_, from, operation.elements, operation.dtype, rank));
    status.Update(communicator_->Receive(*stream_, to, operation.elements, operation.dtype, rank));
  }
  status.Update(communicator_->EndGroup());
  HPU_RETURN_IF_ERROR(status);
  const uint64_t own = communicator_->rank() * bytes;
  return stream_->CopyOnDevice(operation.source + own, operation.destination + own, bytes);
}

absl::Status CollectiveGroup::Start(const CollectiveOperation& operation) {
  const auto& [kind, ready, source, destination, elements, dtype, op, root] = operation;
  switch (kind) {
    case CollectiveOperation::Kind::kAllReduce:
      return communicator_->AllReduce(*stream_, source, destination, elements, dtype, op);
    case CollectiveOperation::Kind::kReduceScatter:
      return communicator_->ReduceScatter(*stream_, source, destination, elements, dtype, op);
    case CollectiveOperation::Kind::kAllGather:
      return communicator_->AllGather(*stream_, source, destination, elements, dtype);
    case CollectiveOperation::Kind::kAllToAll:
      return AllToAll(operation);
    case CollectiveOperation::Kind::kBroadcast:
      return communicator_->Broadcast(*stream_, source, destination, elements, dtype, root);
  }
  return absl::InternalError(
      absl::StrCat("invalid kind of collective operation: ", static_cast<int>(kind), "; " HPU_REPORT_BUG));
}

absl::Status CollectiveGroup::WithNames(const absl::Status& status) const {
  if (!absl::IsCancelled(status)) return status;
  std::string message(status.message());
  for (size_t rank = 0; rank < members_.size(); ++rank) {
    if (absl::StrContains(status.message(), absl::StrCat("rank ", rank, " "))) {
      absl::StrAppend(&message, "; rank ", rank, " is ", members_[rank].task);
    }
  }
  return absl::UnavailableError(message);
}

absl::Status CollectiveGroup::Queue(const CollectiveOperation& operation, std::function<void(absl::Status)> done) {
  std::lock_guard<std::mutex> lock(mutex_);
  HPU_RETURN_IF_ERROR(Order(operation));
  HPU_RETURN_IF_ERROR(Start(operation));
  return stream_->AddCallback([this, done = std::move(done)](const absl::Status& status) {
    Completions().Schedule([this, done, status] {
      if (!status.ok()) stream_->Synchronize().IgnoreError();  // clears the error for later operations
      done(WithNames(status));
    });
  });
}

}  // namespace hpu
