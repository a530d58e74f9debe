// Fork server: a single-threaded process with all libraries loaded, from which children are forked. A child is ready in
// milliseconds and shares only the libraries' memory with other children.
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

// Entry point of a child, called with the files of the fork request. Never returns.
using ChildMain = std::function<void(std::vector<files::FileDescriptor> files)>;

// Ends a child. Skips the destructors, because work may still be running.
[[noreturn]] void EndChild();

// Serves requests (hpu/serve/v1/control.proto, ForkRequest) from `socket` by forking children that run `child_main`.
// Returns when the other end is closed. The process must be single-threaded. Children do not inherit `socket`.
void RunForkServer(const files::FileDescriptor& socket, const ChildMain& child_main);

// Reports to the other end of `socket` that the fork server cannot start, with the reason. Replaces RunForkServer.
void ReportForkServerError(const files::FileDescriptor& socket, const absl::Status& error);

// The client's end of a fork server's socket. Thread safe.
class ForkClient {
 public:
  struct Child {
    pid_t pid = 0;
    files::FileDescriptor pidfd;
  };

  explicit ForkClient(files::FileDescriptor socket) : socket_(std::move(socket)) {}

  // Blocks until the fork server is ready. Fails with Unavailable if the fork server ends first, and with
  // FailedPrecondition if the fork server reports an error.
  absl::Status AwaitReady();
  // Forks a child that receives `file`. Fails with Unavailable if the fork server is gone, and with ResourceExhausted
  // if no more processes can be created.
  absl::StatusOr<Child> Fork(const files::FileDescriptor& file);
  // Returns a child's exit status as text, for example "signal 6 (Aborted)". Kills a child that does not end within 2
  // s.
  std::string End(pid_t child);

 private:
  const files::FileDescriptor socket_;
  std::mutex mutex_;  // held from a request to its answer
};

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVER_FORK_SERVER_H_
