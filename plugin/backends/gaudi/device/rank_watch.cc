#include "plugin/backends/gaudi/device/rank_watch.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/backends/common/signal_mask.h"

namespace hpu::gaudi {
namespace {

constexpr int kWatchPollMs = 50;
constexpr std::chrono::seconds kGrace{2};

}  // namespace

RankWatch::RankWatch(peers::PeerGroup& group, std::unique_ptr<ProcessRendezvous> rendezvous,
                     std::function<void()> abort_work)
    : group_(group),
      rendezvous_(std::move(rendezvous)),
      abort_work_(std::move(abort_work)),
      end_(eventfd(0, EFD_CLOEXEC)) {
  const common::ScopedSignalMask mask;
  thread_ = std::thread([this] { Run(); });
  pthread_setname_np(thread_.native_handle(), "hpu_gaudi_ranks");
}

RankWatch::~RankWatch() {
  const uint64_t one = 1;
  static_cast<void>(write(end_.get(), &one, sizeof(one)) == sizeof(one));
  thread_.join();
}

void RankWatch::Poll() {
  std::vector<pollfd> polled = {{end_.get(), POLLIN, 0}};
  const bool watches = rendezvous_ != nullptr && group_.Check().ok();
  if (watches) {
    for (const ProcessRendezvous::Peer& peer : rendezvous_->peers()) polled.push_back({peer.socket.get(), POLLIN, 0});
  }
  if (poll(polled.data(), polled.size(), kWatchPollMs) <= 0) return;
  has_ended_ = polled[0].revents != 0;
  for (size_t i = 1; i < polled.size(); ++i) {
    if (polled[i].revents == 0) continue;
    const int rank = rendezvous_->peers()[i - 1].rank;
    group_.Abort(
        absl::StrCat("rank ", rank, " has left the communicator: its process ended; see the messages of rank ", rank));
  }
}

void RankWatch::Run() {
  std::optional<std::chrono::steady_clock::time_point> aborted;
  bool has_aborted_work = false;
  while (!has_ended_) {
    Poll();
    if (has_aborted_work || group_.Check().ok()) continue;
    const auto now = std::chrono::steady_clock::now();
    if (!aborted.has_value()) aborted = now;
    if (now - *aborted < kGrace) continue;
    has_aborted_work = true;
    abort_work_();
  }
}

}  // namespace hpu::gaudi
