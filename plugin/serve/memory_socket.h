// MemorySocket: where clients on this machine fetch the shared memory of their session, which gRPC cannot carry.
#ifndef HPU_PLUGIN_SERVE_MEMORY_SOCKET_H_
#define HPU_PLUGIN_SERVE_MEMORY_SOCKET_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "plugin/files/file_descriptor.h"
#include "plugin/serve/session.h"

namespace hpu::serve {

// A client sends the 16 bytes that name its session and gets the file of the memory, or is turned away. A thread serves
// one after another, for at most some seconds each.
class MemorySocket {
 public:
  using FindSession = std::function<absl::StatusOr<std::shared_ptr<Session>>(const std::string& token)>;

  // Unavailable if nobody can listen at `path`. `find` runs on the socket's thread.
  static absl::StatusOr<std::unique_ptr<MemorySocket>> Open(std::string path, FindSession find);
  ~MemorySocket();
  MemorySocket(const MemorySocket&) = delete;
  MemorySocket& operator=(const MemorySocket&) = delete;

 private:
  MemorySocket(std::string path, files::FileDescriptor listening, FindSession find);
  void Serve();
  absl::Status Answer(const files::FileDescriptor& client);

  const std::string path_;
  const files::FileDescriptor listening_;
  const FindSession find_;
  std::thread thread_;
};

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVE_MEMORY_SOCKET_H_
