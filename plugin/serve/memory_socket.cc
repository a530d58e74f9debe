#include "plugin/serve/memory_socket.h"

#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "plugin/backends/common/signal_mask.h"
#include "plugin/files/descriptor_socket.h"
#include "plugin/hal/status_macros.h"
#include "plugin/log/log.h"

namespace hpu::serve {

absl::StatusOr<std::unique_ptr<MemorySocket>> MemorySocket::Open(std::string path, FindSession find) {
  HPU_ASSIGN_OR_RETURN(files::FileDescriptor listening, files::ListenAt(path));
  return std::unique_ptr<MemorySocket>(new MemorySocket(std::move(path), std::move(listening), std::move(find)));
}

MemorySocket::MemorySocket(std::string path, files::FileDescriptor listening, FindSession find)
    : path_(std::move(path)), listening_(std::move(listening)), find_(std::move(find)) {
  const common::ScopedSignalMask mask;
  thread_ = std::thread([this] { Serve(); });
  pthread_setname_np(thread_.native_handle(), "hpu_memory");
}

MemorySocket::~MemorySocket() {
  shutdown(listening_.get(), SHUT_RDWR);
  thread_.join();
  unlink(path_.c_str());
}

void MemorySocket::Serve() {
  for (;;) {
    const files::FileDescriptor client = files::Accept(listening_);
    if (!client.valid()) return;
    if (const absl::Status status = Answer(client); !status.ok()) {
      HPU_LOG(kBackend, kWarning) << "shared memory was refused: " << status;
    }
  }
}

absl::Status MemorySocket::Answer(const files::FileDescriptor& client) {
  HPU_ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, find_(files::Receive(client, Session::kTokenBytes)));
  const files::SharedMemory* const memory = session->shared_memory();
  if (memory == nullptr) return absl::FailedPreconditionError("the session has none");
  if (!files::SendFile(client, memory->file())) return absl::UnavailableError("the client has gone");
  return absl::OkStatus();
}

}  // namespace hpu::serve
