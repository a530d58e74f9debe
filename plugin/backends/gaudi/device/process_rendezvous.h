// ProcessRendezvous: rendezvous of a communicator's ranks in processes of one machine.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_PROCESS_RENDEZVOUS_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_PROCESS_RENDEZVOUS_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/base/files/file_descriptor.h"
#include "plugin/base/files/shared_memory.h"
#include "plugin/hal/communicator.h"

namespace hpu::gaudi {

// The connections between rank 0 and the other ranks, after all of them have joined. The object keeps them open, so
// that ranks notice the end of a peer's process.
class ProcessRendezvous {
 public:
  // The id is "<machine>:<name of a socket>". Processes that cannot reach each other's sockets differ in <machine>.
  static std::string NewId();

  // Blocks until all ranks of options.id have joined; rank 0 listens, the other ranks connect. Rank 0 passes `segment`,
  // its shared memory; other ranks pass null. If options.abandoned returns true on one rank, or if a rank ends, Join
  // fails with Cancelled on all connected ranks. After a minute, rank 0 fails with DeadlineExceeded, which names the
  // missing ranks, and the connected ranks fail with Cancelled. A rank that cannot connect to rank 0 for a minute fails
  // with DeadlineExceeded. InvalidArgument for an id of another machine, a rank out of range or that has joined before,
  // and a size that is not rank 0's.
  static absl::StatusOr<std::unique_ptr<ProcessRendezvous>> Join(const hal::CommunicatorOptions& options,
                                                                 const files::SharedMemory* segment);

  // Rank 0's shared memory, for ranks other than 0. Called once.
  files::FileDescriptor TakeSegment() { return std::move(segment_); }

  struct Peer {
    int rank = 0;
    files::FileDescriptor socket;  // readable once the peer's process has ended or closed it
  };
  // On rank 0, all other ranks; on the other ranks, rank 0.
  const std::vector<Peer>& peers() const { return peers_; }

 private:
  ProcessRendezvous() = default;

  absl::Status Listen(const hal::CommunicatorOptions& options, const std::string& name,
                      const files::SharedMemory& segment);
  absl::Status AwaitPeers(const hal::CommunicatorOptions& options, const files::FileDescriptor& listening);
  // Reads the rank of a new connection, and keeps the connection.
  absl::Status Admit(files::FileDescriptor socket, const hal::CommunicatorOptions& options);
  absl::Status Connect(const hal::CommunicatorOptions& options, const std::string& name);

  std::vector<Peer> peers_;
  files::FileDescriptor segment_;
};

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_PROCESS_RENDEZVOUS_H_
