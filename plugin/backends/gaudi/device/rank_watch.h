// RankWatch: aborts an HCCL communicator when a rank ends, because HCCL's work may wait for that rank forever.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_RANK_WATCH_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_RANK_WATCH_H_

#include <functional>
#include <memory>
#include <thread>

#include "plugin/backends/common/peers/peer_group.h"
#include "plugin/backends/gaudi/device/process_rendezvous.h"
#include "plugin/base/files/file_descriptor.h"

namespace hpu::gaudi {

// A thread that aborts the PeerGroup when the connection to a rank ends. After an abort by any rank, operations that
// all ranks had called have two seconds to end: a rank may leave while its peers finish. Then the thread calls
// `abort_work` once, unless the watch is destroyed before.
class RankWatch {
 public:
  // Borrows the group. `rendezvous` may be null: another process then watches the ranks.
  RankWatch(peers::PeerGroup& group, std::unique_ptr<ProcessRendezvous> rendezvous, std::function<void()> abort_work);
  // Ends the thread, and closes the connections.
  ~RankWatch();
  RankWatch(const RankWatch&) = delete;
  RankWatch& operator=(const RankWatch&) = delete;

 private:
  void Run();
  // Waits up to kWatchPollMs for the end of a connection, which aborts the group, or of the watch.
  void Poll();

  peers::PeerGroup& group_;
  const std::unique_ptr<ProcessRendezvous> rendezvous_;
  const std::function<void()> abort_work_;
  const files::FileDescriptor end_;  // an eventfd, written by the destructor
  bool has_ended_ = false;           // whether `end_` was written; used by the thread only
  std::thread thread_;
};

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_RANK_WATCH_H_
