#include "plugin/server/service/front_channel.h"

#include <pthread.h>
#include <sys/socket.h>

#include <chrono>
#include <utility>

#include "plugin/backends/common/signal_mask.h"
#include "plugin/base/files/packet_socket.h"
#include "plugin/base/status_macros.h"

namespace hpu::serve {
namespace {

constexpr std::chrono::milliseconds kPoll(50);

absl::Status StatusOf(const control::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.code()), status.message());
}

absl::Status FrontProcessLost() {
  return absl::UnavailableError("the device server is shutting down; start it again (hpu serve)");
}

}  // namespace

FrontChannel::FrontChannel(files::FileDescriptor socket, Handlers handlers)
    : socket_(std::move(socket)), handlers_(std::move(handlers)) {
  const common::ScopedSignalMask mask;
  thread_ = std::thread([this] { ReceiveAll(); });
  pthread_setname_np(thread_.native_handle(), "hpu_front");
}

FrontChannel::~FrontChannel() {
  shutdown(socket_.get(), SHUT_RDWR);
  thread_.join();
}

void FrontChannel::ReceiveAll() {
  for (;;) {
    absl::StatusOr<files::Packet> packet = files::ReceivePacket(socket_);
    Answer answer;
    if (!packet.ok() || !answer.message.ParseFromString(packet->bytes)) break;
    if (!packet->files.empty()) answer.file = std::move(packet->files.front());
    Handle(std::move(answer));
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    gone_ = true;
    answered_.notify_all();
  }
  handlers_.stop();
}

void FrontChannel::Handle(Answer answer) {
  switch (answer.message.kind_case()) {
    case control::ToSession::kReport: {
      control::ToFront report;
      handlers_.report().SerializeToString(report.mutable_report());
      static_cast<void>(Send(report));
      return;
    }
    case control::ToSession::kGroupEnded: {
      std::lock_guard<std::mutex> lock(groups_mutex_);
      const auto found = groups_.find(answer.message.group_ended().id());
      if (found != groups_.end()) found->second(answer.message.group_ended().reason());
      return;
    }
    case control::ToSession::kStop:
      handlers_.stop();
      return;
    default:
      break;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = expected_.find(answer.message.number());
  if (found == expected_.end()) return;  // abandoned
  found->second = std::move(answer);
  answered_.notify_all();
}

absl::Status FrontChannel::Send(const control::ToFront& request, int file) {
  return files::SendPacket(socket_, request.SerializeAsString(),
                           file < 0 ? std::vector<int>() : std::vector<int>{file});
}

absl::StatusOr<FrontChannel::Answer> FrontChannel::Call(control::ToFront request, int file,
                                                        const std::function<bool()>& abandoned) {
  std::unique_lock<std::mutex> lock(mutex_);
  const uint64_t number = ++last_number_;
  request.set_number(number);
  const auto expected = expected_.emplace(number, std::nullopt).first;
  lock.unlock();
  const absl::Status sent = Send(request, file);
  lock.lock();
  absl::StatusOr<Answer> result = FrontProcessLost();
  if (absl::IsInvalidArgument(sent)) result = sent;
  while (sent.ok() && !gone_ && !expected->second.has_value()) {
    if (abandoned == nullptr) {
      answered_.wait(lock);
      continue;
    }
    if (answered_.wait_for(lock, kPoll) != std::cv_status::timeout) continue;
    lock.unlock();
    const bool given_up = abandoned();
    lock.lock();
    if (!given_up || expected->second.has_value()) continue;
    result = absl::CancelledError("the client disconnected");
    break;
  }
  if (expected->second.has_value()) result = *std::move(expected->second);
  expected_.erase(expected);
  lock.unlock();
  if (result.ok()) HPU_RETURN_IF_ERROR(StatusOf(result->message.status()));
  return result;
}

absl::Status FrontChannel::Authorize(absl::string_view authorization) {
  control::ToFront request;
  request.mutable_authorize()->set_authorization(std::string(authorization));
  return Call(std::move(request)).status();
}

absl::StatusOr<Front::ClaimedModule> FrontChannel::Claim(const proto::Acquire& acquire) {
  control::ToFront request;
  acquire.SerializeToString(request.mutable_claim()->mutable_acquire());
  HPU_ASSIGN_OR_RETURN(const Answer answer, Call(std::move(request)));
  const control::Claimed& claimed = answer.message.claimed();
  return ClaimedModule{static_cast<int>(claimed.module_id()), claimed.session_number(), claimed.session()};
}

void FrontChannel::Release() {
  control::ToFront request;
  request.mutable_release();
  static_cast<void>(Call(std::move(request)));
}

absl::StatusOr<proto::DescribeResponse> FrontChannel::Describe() {
  control::ToFront request;
  request.mutable_describe();
  HPU_ASSIGN_OR_RETURN(const Answer answer, Call(std::move(request)));
  proto::DescribeResponse response;
  if (!response.ParseFromString(answer.message.modules())) {
    return absl::InternalError(
        "cannot parse the front process's description of its modules; restart the device server");
  }
  return response;
}

absl::Status FrontChannel::Share(const files::SharedMemory& memory) {
  control::ToFront request;
  request.mutable_share()->set_bytes(memory.size());
  return Call(std::move(request), memory.file().get()).status();
}

absl::StatusOr<std::string> FrontChannel::Seal(absl::string_view digest) {
  control::ToFront request;
  request.mutable_seal()->set_digest(std::string(digest));
  HPU_ASSIGN_OR_RETURN(const Answer answer, Call(std::move(request)));
  return answer.message.sealed().seal();
}

absl::Status FrontChannel::CheckSeal(absl::string_view digest, absl::string_view seal) {
  control::ToFront request;
  request.mutable_seal()->set_digest(std::string(digest));
  request.mutable_seal()->set_seal(std::string(seal));
  return Call(std::move(request)).status();
}

absl::StatusOr<files::FileDescriptor> FrontChannel::JoinGroup(const GroupRank& rank, int segment,
                                                              const std::function<bool()>& abandoned, GroupEnd on_end) {
  {
    std::lock_guard<std::mutex> lock(groups_mutex_);
    if (!groups_.emplace(rank.id, std::move(on_end)).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("rank ", rank.rank, " of ", rank.size,
                       ": this session has already joined the communicator; each rank needs its own session"));
    }
  }
  control::ToFront request;
  control::JoinGroup& join = *request.mutable_join_group();
  join.set_id(rank.id);
  join.set_rank(rank.rank);
  join.set_size(rank.size);
  absl::StatusOr<Answer> answer = Call(std::move(request), segment, abandoned);
  if (answer.ok() && answer->file.valid()) return std::move(answer->file);
  if (absl::IsCancelled(answer.status())) {
    LeaveGroup(rank, absl::StrCat("rank ", rank.rank, " of ", rank.size, " disconnected"));
  } else {
    std::lock_guard<std::mutex> lock(groups_mutex_);
    groups_.erase(rank.id);
  }
  if (!answer.ok()) return answer.status();
  return absl::InternalError("the front process sent no shared memory for the communicator; restart the device server");
}

void FrontChannel::LeaveGroup(const GroupRank& rank, absl::string_view reason) {
  {
    std::lock_guard<std::mutex> lock(groups_mutex_);
    groups_.erase(rank.id);
  }
  control::ToFront request;
  control::LeaveGroup& leave = *request.mutable_leave_group();
  leave.set_id(rank.id);
  leave.set_rank(rank.rank);
  leave.set_reason(std::string(reason));
  static_cast<void>(Send(request));
}

void FrontChannel::ReportRefusal(absl::string_view method, const absl::Status& status) {
  constexpr size_t kMaxBytes = 2000;
  control::ToFront request;
  control::Refused& refused = *request.mutable_refused();
  refused.set_method(std::string(method.substr(0, kMaxBytes)));
  refused.mutable_status()->set_code(static_cast<int32_t>(status.code()));
  refused.mutable_status()->set_message(std::string(status.message().substr(0, kMaxBytes)));
  static_cast<void>(Send(request));
}

}  // namespace hpu::serve
