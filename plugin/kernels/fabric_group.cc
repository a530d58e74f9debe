#include "plugin/kernels/fabric_group.h"

#include <atomic>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/c_api.h"
#include "plugin/c_buffer.h"
#include "tsl/platform/env.h"
#include "tsl/platform/errors.h"
#include "tsl/platform/statusor.h"
#include "tsl/platform/threadpool.h"

namespace hpu {
namespace {

struct Groups {
  std::mutex mutex;
  std::map<int, FabricGroup*> by_key;  // guarded by mutex
  std::atomic<bool> any{false};
};

Groups& AllGroups() {
  static auto* groups = new Groups;
  return *groups;
}

// Where `done` runs: it takes locks of TensorFlow.
tsl::thread::ThreadPool& Completions() {
  static auto* pool = new tsl::thread::ThreadPool(tsl::Env::Default(), "hpu_fabric", /*num_threads=*/1);
  return *pool;
}

}  // namespace

absl::Status FabricGroup::Join(int group_key, const hal::CommunicatorOptions& options) {
  if (Find(group_key) != nullptr) return absl::AlreadyExistsError(absl::StrCat("group ", group_key, " has joined"));
  TF_ASSIGN_OR_RETURN(ProcessDevice * device, ProcessDevice::Get());
  TF_ASSIGN_OR_RETURN(auto communicator, device->hal().CreateCommunicator(options));
  TF_ASSIGN_OR_RETURN(auto stream, device->hal().CreateStream(hal::StreamKind::kCompute));
  auto* group = new FabricGroup(device, std::move(communicator), std::move(stream));
  Groups& groups = AllGroups();
  std::lock_guard<std::mutex> lock(groups.mutex);
  groups.by_key[group_key] = group;
  groups.any = true;
  return absl::OkStatus();
}

FabricGroup* FabricGroup::Find(int group_key) {
  if (!Any()) return nullptr;
  Groups& groups = AllGroups();
  std::lock_guard<std::mutex> lock(groups.mutex);
  const auto found = groups.by_key.find(group_key);
  return found == groups.by_key.end() ? nullptr : found->second;
}

bool FabricGroup::Any() { return AllGroups().any; }

absl::Status FabricGroup::Reduce(const FabricReduction& reduction, std::function<void(absl::Status)> done) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (reduction.ready != nullptr) {
    TF_RETURN_IF_ERROR(stream_->Wait(*reduction.ready));
  } else {
    TF_RETURN_IF_ERROR(device_->events().Order(device_->compute(), *stream_));
  }
  const uint64_t bytes = reduction.count * hal::SizeOf(reduction.dtype);
  TF_RETURN_IF_ERROR(device_->OrderAfterCopies(reduction.source, bytes, *stream_));
  TF_RETURN_IF_ERROR(device_->OrderAfterCopies(reduction.destination, bytes, *stream_));
  TF_RETURN_IF_ERROR(communicator_->AllReduce(*stream_, reduction.source, reduction.destination, reduction.count,
                                              reduction.dtype, reduction.op));
  return stream_->AddCallback([this, done = std::move(done)](const absl::Status& status) {
    Completions().Schedule([this, done, status] {
      if (!status.ok()) stream_->Synchronize().IgnoreError();  // clears this error
      done(status);
    });
  });
}

}  // namespace hpu

int32_t hpu_communicator_id(hpu_buffer* out) {
  const absl::StatusOr<hpu::ProcessDevice*> device = hpu::ProcessDevice::Get();
  const absl::StatusOr<std::string> id = device.ok() ? (*device)->hal().CreateCommunicatorId() : device.status();
  *out = hpu::MakeBuffer(id.ok() ? absl::string_view(*id) : id.status().message());
  return static_cast<int32_t>(id.status().code());
}

int32_t hpu_communicator_join(int32_t group_key, const char* id, int32_t rank, int32_t size, hpu_buffer* message) {
  hpu::hal::CommunicatorOptions options;
  options.id = id;
  options.rank = rank;
  options.size = size;
  const absl::Status status = hpu::FabricGroup::Join(group_key, options);
  *message = hpu::MakeBuffer(status.message());
  return static_cast<int32_t>(status.code());
}
