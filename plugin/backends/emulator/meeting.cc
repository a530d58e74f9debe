#include "plugin/backends/emulator/meeting.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/backends/emulator/share.h"
#include "plugin/hal/status_macros.h"

namespace hpu::emulator {
namespace {

constexpr std::chrono::milliseconds kPoll{50};

const char* NameOf(Part::Kind kind) {
  switch (kind) {
    case Part::Kind::kAllReduce:
      return "AllReduce";
    case Part::Kind::kReduceScatter:
      return "ReduceScatter";
    case Part::Kind::kAllGather:
      return "AllGather";
    case Part::Kind::kBroadcast:
      return "Broadcast";
  }
  return "operation";
}

bool SameElements(const hal::Elements& one, const hal::Elements& other) {
  return one.count == other.count && one.shape == other.shape;
}

// As "6 elements of float32, shape [2,3]".
std::string Describe(const hal::Elements& elements, hal::DataType dtype) {
  const std::string text = absl::StrCat(elements.count, " elements of ", hal::NameOf(dtype));
  return elements.shape.empty() ? text : absl::StrCat(text, ", shape ", elements.shape);
}

bool Agree(const Part& one, const Part& other) {
  return one.kind == other.kind && SameElements(one.elements, other.elements) && one.dtype == other.dtype &&
         one.op == other.op && one.root == other.root;
}

// All ranks come to the same verdict, for they see the same parts.
absl::Status Check(const std::vector<Part>& parts) {
  if (std::all_of(parts.begin(), parts.end(), [&](const Part& part) { return Agree(part, parts[0]); })) {
    return absl::OkStatus();
  }
  std::vector<std::string> told;
  for (size_t rank = 0; rank < parts.size(); ++rank) {
    const Part& part = parts[rank];
    told.push_back(absl::StrCat("rank ", rank, ": ", NameOf(part.kind), " of ", Describe(part.elements, part.dtype),
                                ", operation ", static_cast<int>(part.op), ", root ", part.root));
  }
  return absl::InvalidArgumentError(absl::StrCat("the ", parts.size(), " ranks of a communicator ask for different ",
                                                 "things: ", absl::StrJoin(told, "; ")));
}

}  // namespace

absl::StatusOr<std::shared_ptr<Meeting>> Meeting::Find(const std::string& id, int size) {
  static auto* mutex = new std::mutex;
  static auto* meetings = new std::map<std::string, std::weak_ptr<Meeting>>;
  std::lock_guard<std::mutex> lock(*mutex);
  for (auto it = meetings->begin(); it != meetings->end();) it = it->second.expired() ? meetings->erase(it) : ++it;
  std::weak_ptr<Meeting>& entry = (*meetings)[id];
  std::shared_ptr<Meeting> found = entry.lock();
  if (found == nullptr) entry = found = std::make_shared<Meeting>(size);
  if (static_cast<int>(found->parts_.size()) == size) return found;
  return absl::InvalidArgumentError(
      absl::StrCat("a communicator of ", size, " ranks, which others made for ", found->parts_.size()));
}

std::string Meeting::MissingLocked() const {
  std::vector<size_t> missing;
  for (size_t rank = 0; rank < came_.size(); ++rank) {
    if (!came_[rank]) missing.push_back(rank);
  }
  return absl::StrJoin(missing, ", ");
}

absl::Status Meeting::Join(const hal::CommunicatorOptions& options) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  std::unique_lock<std::mutex> lock(mutex_);
  if (came_[options.rank]) {
    return absl::InvalidArgumentError(absl::StrCat("two ranks ", options.rank, " in one communicator"));
  }
  came_[options.rank] = true;
  ++joined_;
  changed_.notify_all();
  while (joined_ < static_cast<int>(came_.size()) && aborted_.empty()) {
    if (options.abandoned && options.abandoned()) {
      aborted_ = absl::StrCat("rank ", options.rank, " of ", options.size, " has gone while it waited for rank ",
                              MissingLocked());
      changed_.notify_all();
      return absl::CancelledError(aborted_);
    }
    if (std::chrono::steady_clock::now() > end) {
      aborted_ =
          absl::StrCat("rank ", options.rank, " of ", options.size, " has waited a minute for rank ", MissingLocked());
      changed_.notify_all();
      return absl::DeadlineExceededError(aborted_);
    }
    changed_.wait_for(lock, kPoll);
  }
  return aborted_.empty() ? absl::OkStatus() : absl::CancelledError(aborted_);
}

absl::Status Meeting::MeetLocked(std::unique_lock<std::mutex>& lock) {
  if (!aborted_.empty()) return absl::CancelledError(aborted_);
  const uint64_t meeting = meetings_;
  if (++arrived_ == static_cast<int>(parts_.size())) {
    arrived_ = 0;
    ++meetings_;
    changed_.notify_all();
    return absl::OkStatus();
  }
  return WaitLocked(lock, [&] { return meetings_ != meeting; });
}

absl::Status Meeting::WorkLocked(std::unique_lock<std::mutex>& lock, int rank) {
  // A rank that was told to leave may have left.
  if (!aborted_.empty()) return absl::CancelledError(aborted_);
  ++working_;
  lock.unlock();
  const absl::Status verdict = Check(parts_);
  if (verdict.ok()) DoShare(rank, parts_);
  lock.lock();
  --working_;
  changed_.notify_all();
  return verdict;
}

absl::Status Meeting::Run(int rank, const Part& part) {
  std::unique_lock<std::mutex> lock(mutex_);
  parts_[rank] = part;
  HPU_RETURN_IF_ERROR(MeetLocked(lock));
  const absl::Status verdict = WorkLocked(lock, rank);
  const absl::Status met = MeetLocked(lock);
  changed_.wait(lock, [this] { return working_ == 0; });
  HPU_RETURN_IF_ERROR(met);
  return verdict;
}

absl::Status Meeting::Exchange(int rank, const std::vector<Transfer>& transfers) {
  std::unique_lock<std::mutex> lock(mutex_);
  for (const Transfer& transfer : transfers) {
    if (!transfer.sends) continue;
    Channel& channel = channels_[{rank, transfer.peer}];
    channel.sent = &transfer;
    changed_.notify_all();
  }
  absl::Status status;
  for (const Transfer& transfer : transfers) {
    if (!transfer.sends) status.Update(ReceiveLocked(lock, rank, transfer));
  }
  for (const Transfer& transfer : transfers) {
    if (!transfer.sends) continue;
    Channel& channel = channels_[{rank, transfer.peer}];
    status.Update(WaitLocked(lock, [&] { return channel.answered; }));
    changed_.wait(lock, [&] { return !channel.copying; });
    if (channel.answered) status.Update(channel.answer);
    channel = Channel();
  }
  return status;
}

absl::Status Meeting::ReceiveLocked(std::unique_lock<std::mutex>& lock, int rank, const Transfer& transfer) {
  Channel& channel = channels_[{transfer.peer, rank}];
  HPU_RETURN_IF_ERROR(WaitLocked(lock, [&] { return channel.sent != nullptr && !channel.answered; }));
  const Transfer sent = *channel.sent;
  if (SameElements(sent.elements, transfer.elements) && sent.dtype == transfer.dtype) {
    channel.copying = true;  // the sender stays until it is over
    lock.unlock();
    std::memcpy(transfer.data, sent.data, sent.elements.count * hal::SizeOf(sent.dtype));
    lock.lock();
    channel.copying = false;
  } else {
    channel.answer = absl::InvalidArgumentError(
        absl::StrCat("rank ", transfer.peer, " sends ", Describe(sent.elements, sent.dtype), ", and rank ", rank,
                     " receives ", Describe(transfer.elements, transfer.dtype)));
  }
  const absl::Status answer = channel.answer;
  channel.answered = true;
  changed_.notify_all();
  return answer;
}

void Meeting::Abort(const std::string& reason) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (aborted_.empty()) aborted_ = reason;
  changed_.notify_all();
}

}  // namespace hpu::emulator
