// TransferProcess: a child process that transfers recipes between this machine and a remote store.
//
// The child uses Python's standard library (recipe_store/remote/transfer_process.py), so the plugin needs no HTTP code.
// A file system or server that hangs blocks the calling thread only until the deadline. Transfers do not need this
// process's GIL, so transfers cannot deadlock with Python's threads or with the interpreter's shutdown.
//
// Messages on the stream socket, one request at a time:
//   request  "VERB KEY SIZE\n", then SIZE bytes   get: none; put: path of the local entry
//   reply    "OUTCOME SIZE\n", then SIZE bytes    found: the entry; else a readable text or none
#ifndef HPU_PLUGIN_RECIPES_TRANSFER_PROCESS_H_
#define HPU_PLUGIN_RECIPES_TRANSFER_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "plugin/base/files/file_descriptor.h"

namespace hpu::recipes {

struct TransferReply {
  std::string outcome;
  std::string bytes;
};

// The destructor ends the child by closing the socket. A child that hangs in a transfer ends at the child's own time
// limit. Thread compatible.
class TransferProcess {
 public:
  // Runs `command`, whose first word is looked up in PATH, with the socket as standard input. Unavailable if the start
  // fails.
  static absl::StatusOr<std::unique_ptr<TransferProcess>> Start(const std::vector<std::string>& command);
  ~TransferProcess();
  TransferProcess(const TransferProcess&) = delete;
  TransferProcess& operator=(const TransferProcess&) = delete;

  // Sends a request and waits for the reply. DeadlineExceeded after `deadline`, Unavailable if the child ended,
  // Internal for a reply that breaks the protocol. After an error the object must not be used.
  absl::StatusOr<TransferReply> Call(absl::string_view verb, absl::string_view key, absl::string_view operand,
                                     absl::Time deadline);

 private:
  TransferProcess(files::FileDescriptor socket, pid_t pid) : socket_(std::move(socket)), pid_(pid) {}

  absl::Status Send(absl::string_view bytes, absl::Time deadline);
  // Reads at least one and at most `max_bytes` bytes. Returns the number of bytes.
  absl::StatusOr<size_t> Receive(char* bytes, size_t max_bytes, absl::Time deadline);
  // Waits until the socket is ready for `events` (poll(2)).
  absl::Status Await(short events, absl::Time deadline);  // NOLINT(runtime/int): poll's type

  files::FileDescriptor socket_;
  const pid_t pid_;
};

}  // namespace hpu::recipes

#endif  // HPU_PLUGIN_RECIPES_TRANSFER_PROCESS_H_
