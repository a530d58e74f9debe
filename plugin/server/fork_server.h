// Fork server: a process that has loaded all libraries and started no thread, and forks children from there. A child is
// ready in milliseconds, shares the libraries' memory with the others, and nothing else.
#ifndef HPU_PLUGIN_SERVER_FORK_SERVER_H_
#define HPU_PLUGIN_SERVER_FORK_SERVER_H_

#include <sys/types.h>

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/base/files/file_descriptor.h"

namespace hpu::serve {

// What a child does with the files that came with the request for it. Never returns.
using ChildMain = std::function<void(std::vector<files::FileDescriptor> files)>;

// Answers requests (hpu/serve/v1/control.proto, ForkRequest) on `socket` with children that run `child_main`, until the
// other end is closed; then returns. The process must have no other thread. Children do not have `socket`.
void RunForkServer(const files::FileDescriptor& socket, const ChildMain& child_main);

// Instead of RunForkServer: says on `socket` why there is no fork server.
void ReportForkServerError(const files::FileDescriptor& socket, const absl::Status& error);

// The other end. Thread safe.
class ForkClient {
 public:
  struct Child {
    pid_t pid = 0;
    files::FileDescriptor pidfd;
  };

  explicit ForkClient(files::FileDescriptor socket) : socket_(std::move(socket)) {}

  // Waits until the fork server is ready. Unavailable if it ends instead, FailedPrecondition if it says why.
  absl::Status AwaitReady();
  // A child that gets `file`. Unavailable if the fork server is gone, ResourceExhausted if there can be no more
  // processes.
  absl::StatusOr<Child> Fork(const files::FileDescriptor& file);
  // How a child ended: "signal 6 (Aborted)". Kills one that does not end within 2 s.
  std::string End(pid_t child);

 private:
  const files::FileDescriptor socket_;
  std::mutex mutex_;  // held from a request to its answer
};

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVER_FORK_SERVER_H_
