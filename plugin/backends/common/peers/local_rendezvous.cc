#include "plugin/backends/common/peers/local_rendezvous.h"

#include <fcntl.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/backends/common/peers/peer_group.h"
#include "plugin/base/status_macros.h"

namespace hpu::peers {
namespace {

constexpr std::chrono::milliseconds kArrivalPoll{50};

}  // namespace

absl::StatusOr<std::shared_ptr<LocalRendezvous>> LocalRendezvous::Find(const std::string& id, int size) {
  static auto* mutex = new std::mutex;
  static auto* by_id = new std::map<std::string, std::weak_ptr<LocalRendezvous>>;
  std::lock_guard<std::mutex> lock(*mutex);
  for (auto it = by_id->begin(); it != by_id->end();) it = it->second.expired() ? by_id->erase(it) : ++it;
  std::shared_ptr<LocalRendezvous> found = (*by_id)[id].lock();
  if (found == nullptr) {
    HPU_ASSIGN_OR_RETURN(auto segment, PeerGroup::CreateSegment(size));
    (*by_id)[id] = found = std::shared_ptr<LocalRendezvous>(new LocalRendezvous(std::move(segment), size));
  }
  const size_t others = found->has_joined_.size();  // the size never changes
  if (static_cast<int>(others) == size) return found;
  return absl::InvalidArgumentError(absl::StrCat("cannot join a communicator of ", size,
                                                 " ranks: other ranks created it with ", others,
                                                 " ranks; pass the same size on every rank"));
}

std::string LocalRendezvous::MissingLocked() const {
  std::vector<size_t> missing;
  for (size_t rank = 0; rank < has_joined_.size(); ++rank) {
    if (!has_joined_[rank]) missing.push_back(rank);
  }
  return absl::StrCat(missing.size() > 1 ? "ranks " : "rank ", absl::StrJoin(missing, ", "));
}

absl::StatusOr<std::unique_ptr<files::SharedMemory>> LocalRendezvous::Join(const hal::CommunicatorOptions& options) {
  HPU_RETURN_IF_ERROR(AwaitRanks(options));
  files::FileDescriptor file(fcntl(segment_->file().get(), F_DUPFD_CLOEXEC, 0));
  if (file.valid()) return files::SharedMemory::Open(std::move(file), segment_->size());
  return absl::ResourceExhaustedError(
      absl::StrCat("cannot join the communicator: cannot duplicate the file descriptor of its shared memory (",
                   std::strerror(errno), "); raise ulimit -n"));
}

absl::Status LocalRendezvous::AwaitRanks(const hal::CommunicatorOptions& options) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  std::unique_lock<std::mutex> lock(mutex_);
  if (has_joined_[options.rank]) {
    return absl::InvalidArgumentError(
        absl::StrCat("rank ", options.rank, " has already joined this communicator; pass each rank once"));
  }
  has_joined_[options.rank] = true;
  ++joined_;
  changed_.notify_all();
  while (joined_ < has_joined_.size() && aborted_.empty()) {
    if (options.abandoned && options.abandoned()) {
      aborted_ = absl::StrCat("rank ", options.rank, " of ", options.size, " disconnected while waiting for ",
                              MissingLocked(), "; see the messages of rank ", options.rank);
      changed_.notify_all();
      return absl::CancelledError(aborted_);
    }
    if (std::chrono::steady_clock::now() > end) {
      aborted_ = absl::StrCat("rank ", options.rank, " of ", options.size, " waited 60 s for ", MissingLocked(),
                              " to join the communicator; check that these processes are running");
      changed_.notify_all();
      return absl::DeadlineExceededError(aborted_);
    }
    changed_.wait_for(lock, kArrivalPoll);
  }
  return aborted_.empty() ? absl::OkStatus() : absl::CancelledError(aborted_);
}

}  // namespace hpu::peers
