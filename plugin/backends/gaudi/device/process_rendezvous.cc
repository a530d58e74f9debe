#include "plugin/backends/gaudi/device/process_rendezvous.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "plugin/base/files/descriptor_socket.h"
#include "plugin/base/files/peer_owner.h"
#include "plugin/base/random_id.h"
#include "plugin/base/status_macros.h"

namespace hpu::gaudi {
namespace {

using Clock = std::chrono::steady_clock;
using files::FileDescriptor;

constexpr int kPollMs = 50;
constexpr std::chrono::seconds kMaxJoin{60};

// First message of a rank to rank 0.
struct Greeting {
  int32_t rank = 0;
  int32_t size = 0;
};

// Rank 0's answer after all ranks have joined, or after a failure. The segment follows an answer without an error.
struct Answer {
  int32_t code = 0;  // absl::StatusCode
  char text[508] = {};
};

template <typename Message>
absl::string_view BytesOfMessage(const Message& message) {
  return absl::string_view(reinterpret_cast<const char*>(&message), sizeof(message));
}

void SendAnswer(const FileDescriptor& socket, const absl::Status& status) {
  Answer answer;
  answer.code = static_cast<int32_t>(status.code());
  status.message().copy(answer.text, sizeof(answer.text) - 1);
  static_cast<void>(files::Send(socket, BytesOfMessage(answer)));  // a rank that has gone needs no answer
}

// Names this boot of the machine and its network namespace: names of sockets are unique in them.
std::string MachineName() {
  char boot[64] = {};
  const FileDescriptor file(open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  if (!file.valid() || read(file.get(), boot, sizeof(boot) - 1) <= 0) return RandomId();
  char network[64] = {};
  if (readlink("/proc/self/ns/net", network, sizeof(network) - 1) <= 0) return RandomId();
  // A colon ends the machine's name in an id.
  return absl::StrCat(absl::StripAsciiWhitespace(boot), "-", absl::StrJoin(absl::StrSplit(network, ':'), ""));
}

bool IsAbandoned(const hal::CommunicatorOptions& options) { return options.abandoned && options.abandoned(); }

absl::Status Abandonment(const hal::CommunicatorOptions& options, absl::string_view awaited) {
  return absl::CancelledError(absl::StrCat("rank ", options.rank, " of ", options.size,
                                           " disconnected while waiting for ", awaited, "; see the messages of rank ",
                                           options.rank));
}

absl::Status LateRanks(const hal::CommunicatorOptions& options, absl::string_view awaited) {
  return absl::DeadlineExceededError(absl::StrCat("rank ", options.rank, " of ", options.size, " waited ",
                                                  kMaxJoin.count(), " s for ", awaited,
                                                  " to join the communicator; check that these processes are running"));
}

// Ranks 1 to size - 1 without a connection: "rank 2", "ranks 1, 3".
std::string MissingRanks(const std::vector<ProcessRendezvous::Peer>& peers, int size) {
  std::vector<int> missing;
  for (int rank = 1; rank < size; ++rank) {
    const auto is_rank = [rank](const ProcessRendezvous::Peer& peer) { return peer.rank == rank; };
    if (std::none_of(peers.begin(), peers.end(), is_rank)) missing.push_back(rank);
  }
  return absl::StrCat(missing.size() > 1 ? "ranks " : "rank ", absl::StrJoin(missing, ", "));
}

}  // namespace

std::string ProcessRendezvous::NewId() { return absl::StrCat(MachineName(), ":", RandomId()); }

absl::StatusOr<std::unique_ptr<ProcessRendezvous>> ProcessRendezvous::Join(const hal::CommunicatorOptions& options,
                                                                           const files::SharedMemory* segment) {
  const std::vector<std::string> parts = absl::StrSplit(options.id, ':');
  if (parts.size() != 2 || parts[0] != MachineName() || parts[1].empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "cannot join communicator '", options.id,
        "': it is not an id of this machine; pass the id that CreateCommunicatorId returned on rank 0, which must "
        "run on this machine and in this network namespace"));
  }
  const std::string name = absl::StrCat("@hpu-communicator-", parts[1]);
  std::unique_ptr<ProcessRendezvous> rendezvous(new ProcessRendezvous);
  HPU_RETURN_IF_ERROR(segment != nullptr ? rendezvous->Listen(options, name, *segment)
                                         : rendezvous->Connect(options, name));
  return rendezvous;
}

absl::Status ProcessRendezvous::Listen(const hal::CommunicatorOptions& options, const std::string& name,
                                       const files::SharedMemory& segment) {
  auto listening = files::ListenAt(name);
  if (!listening.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("rank 0 cannot listen for the other ranks (", listening.status().message(),
                     "): if rank 0 has already joined this communicator, pass each rank once"));
  }
  const absl::Status status = AwaitPeers(options, *listening);
  for (const Peer& peer : peers_) {
    SendAnswer(peer.socket, status.ok() ? status : absl::CancelledError(status.message()));
    if (status.ok()) static_cast<void>(files::SendFile(peer.socket, segment.file()));
  }
  return status;
}

absl::Status ProcessRendezvous::AwaitPeers(const hal::CommunicatorOptions& options, const FileDescriptor& listening) {
  const Clock::time_point end = Clock::now() + kMaxJoin;
  while (static_cast<int>(peers_.size()) < options.size - 1) {
    const std::string missing = MissingRanks(peers_, options.size);
    if (IsAbandoned(options)) return Abandonment(options, missing);
    if (Clock::now() > end) return LateRanks(options, missing);
    std::vector<pollfd> polled = {{listening.get(), POLLIN, 0}};
    for (const Peer& peer : peers_) polled.push_back({peer.socket.get(), POLLIN, 0});
    poll(polled.data(), polled.size(), kPollMs);
    for (size_t i = 0; i < peers_.size(); ++i) {
      if (polled[i + 1].revents == 0) continue;
      return absl::CancelledError(absl::StrCat("rank ", peers_[i].rank, " of ", options.size,
                                               " disconnected while waiting for ", missing,
                                               "; see the messages of rank ", peers_[i].rank));
    }
    if (polled[0].revents != 0) HPU_RETURN_IF_ERROR(Admit(files::Accept(listening), options));
  }
  return absl::OkStatus();
}

absl::Status ProcessRendezvous::Admit(FileDescriptor socket, const hal::CommunicatorOptions& options) {
  if (!socket.valid() || !files::PeerOwnerProblem(socket.get()).empty()) return absl::OkStatus();
  const std::string bytes = files::Receive(socket, sizeof(Greeting));
  if (bytes.empty()) return absl::OkStatus();  // the rank has gone, and connects again if it lives
  Greeting greeting;
  std::memcpy(&greeting, bytes.data(), sizeof(greeting));
  absl::Status problem;
  const auto is_rank = [&](const Peer& peer) { return peer.rank == greeting.rank; };
  if (greeting.size != options.size) {
    problem = absl::InvalidArgumentError(absl::StrCat("cannot join a communicator of ", greeting.size,
                                                      " ranks: rank 0 created it with ", options.size,
                                                      " ranks; pass the same size on every rank"));
  } else if (greeting.rank < 1 || greeting.rank >= options.size) {
    problem = absl::InvalidArgumentError(
        absl::StrCat("rank ", greeting.rank, " cannot join this communicator: expected ranks 1 to ", options.size - 1));
  } else if (std::any_of(peers_.begin(), peers_.end(), is_rank)) {
    problem = absl::InvalidArgumentError(
        absl::StrCat("rank ", greeting.rank, " has already joined this communicator; pass each rank once"));
  }
  if (!problem.ok()) {
    SendAnswer(socket, problem);
    return absl::OkStatus();
  }
  peers_.push_back({greeting.rank, std::move(socket)});
  return absl::OkStatus();
}

absl::Status ProcessRendezvous::Connect(const hal::CommunicatorOptions& options, const std::string& name) {
  const Clock::time_point end = Clock::now() + kMaxJoin;
  absl::StatusOr<FileDescriptor> socket = files::ConnectTo(name);
  while (!socket.ok()) {
    if (IsAbandoned(options)) return Abandonment(options, "rank 0");
    if (Clock::now() > end) return LateRanks(options, "rank 0");
    std::this_thread::sleep_for(std::chrono::milliseconds(kPollMs));
    socket = files::ConnectTo(name);
  }
  const absl::Status gone =
      absl::CancelledError(absl::StrCat("rank 0 of ", options.size, " disconnected while rank ", options.rank,
                                        " joined the communicator; see the messages of rank 0"));
  if (!files::Send(*socket, BytesOfMessage(Greeting{options.rank, options.size}))) return gone;
  pollfd polled = {socket->get(), POLLIN, 0};
  while (poll(&polled, 1, kPollMs) <= 0) {
    if (IsAbandoned(options)) return Abandonment(options, "the other ranks");
  }
  const std::string bytes = files::Receive(*socket, sizeof(Answer));
  if (bytes.empty()) return gone;
  Answer answer;
  std::memcpy(&answer, bytes.data(), sizeof(answer));
  answer.text[sizeof(answer.text) - 1] = '\0';
  if (answer.code != 0) return absl::Status(static_cast<absl::StatusCode>(answer.code), answer.text);
  auto segment = files::ReceiveFile(*socket);
  if (!segment.ok()) return gone;
  segment_ = *std::move(segment);
  peers_.push_back({0, *std::move(socket)});
  return absl::OkStatus();
}

}  // namespace hpu::gaudi
