#include "plugin/backends/pjrt/job_rendezvous.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "plugin/base/files/file_descriptor.h"
#include "plugin/base/random_id.h"
#include "plugin/base/status_macros.h"

namespace hpu::pjrt {
namespace {

// Polling interval of CommunicatorOptions::abandoned.
constexpr std::chrono::milliseconds kAbandonedPoll{50};

}  // namespace

std::string JobRendezvous::NewCommunicatorId() const { return absl::StrCat(absl::Hex(id_), ":", RandomId()); }

absl::StatusOr<std::string> JobRendezvous::Await(const hal::CommunicatorOptions& options, const std::string& key,
                                                 const std::string& who) const {
  const auto end = std::chrono::steady_clock::now() + max_wait_;
  while (true) {
    absl::StatusOr<std::string> value = store_->Get(key, kAbandonedPoll);
    if (!absl::IsDeadlineExceeded(value.status())) return value;
    if (options.abandoned && options.abandoned()) {
      return absl::CancelledError(absl::StrCat("rank ", options.rank, " of ", options.size,
                                               " was abandoned while it waited for ", who,
                                               "; see the messages of the other ranks"));
    }
    if (std::chrono::steady_clock::now() >= end) {
      return absl::DeadlineExceededError(absl::StrCat("rank ", options.rank, " of ", options.size, " waited ",
                                                      max_wait_.count(), " ms for ", who,
                                                      " to join the communicator; check that all ranks are running"));
    }
  }
}

// Rank 0 passes the path of its memory's descriptor, which processes of the same user can open.
absl::StatusOr<int> JobRendezvous::Meet(const hal::CommunicatorOptions& options, int segment) const {
  const std::string key = absl::StrCat("hpu/communicator/", options.id);
  const std::string all_joined = absl::StrCat(key, "/all");
  const auto joined = [&](int rank) { return absl::StrCat(key, "/", rank); };
  if (options.rank == 0) {
    HPU_RETURN_IF_ERROR(store_->Put(key, absl::StrCat("/proc/", getpid(), "/fd/", segment)));
    for (int rank = 1; rank < options.size; ++rank) {
      HPU_RETURN_IF_ERROR(Await(options, joined(rank), absl::StrCat("rank ", rank)).status());
    }
    HPU_RETURN_IF_ERROR(store_->Put(all_joined, ""));
    const int copy = fcntl(segment, F_DUPFD_CLOEXEC, 0);
    if (copy >= 0) return copy;
    return absl::ResourceExhaustedError(absl::StrCat("cannot create the communicator: no file descriptor is free (",
                                                     strerror(errno), "); raise ulimit -n"));
  }
  HPU_ASSIGN_OR_RETURN(const std::string path, Await(options, key, "rank 0"));
  files::FileDescriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (file.get() < 0) {
    return absl::UnavailableError(absl::StrCat("cannot open the communicator's memory ", path, " of rank 0: ",
                                               strerror(errno), "; the ranks must share a user and a PID namespace"));
  }
  HPU_RETURN_IF_ERROR(store_->Put(joined(options.rank), ""));
  HPU_RETURN_IF_ERROR(Await(options, all_joined, "the other ranks").status());
  return file.Release();
}

}  // namespace hpu::pjrt
