#include "plugin/backends/remote/shared_bounce_buffer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "plugin/base/files/descriptor_socket.h"
#include "plugin/base/flags/flags.h"
#include "plugin/base/log/log.h"
#include "plugin/base/status_macros.h"

namespace hpu::remote {
namespace {

constexpr uint64_t kPiecesOfCopy = 8;
constexpr uint64_t kSmallPieceBytes = uint64_t{512} << 10;
constexpr uint64_t kLargePieceBytes = uint64_t{4} << 20;
constexpr uint64_t kCacheLine = 64;

// Receives the shared memory through the server's memory socket.
absl::StatusOr<std::unique_ptr<files::SharedMemory>> Fetch(absl::string_view server_path,
                                                           const proto::Acquired& acquired) {
  HPU_ASSIGN_OR_RETURN(const files::FileDescriptor socket,
                       files::ConnectTo(absl::StrCat(server_path, kMemorySocketSuffix)));
  if (!files::Send(socket, acquired.session())) {
    return absl::UnavailableError(absl::StrCat("cannot send the session's token to ", server_path, kMemorySocketSuffix,
                                               ": ", std::strerror(errno)));
  }
  HPU_ASSIGN_OR_RETURN(files::FileDescriptor file, files::ReceiveFile(socket));
  return files::SharedMemory::Open(std::move(file), acquired.shared_memory_bytes());
}

}  // namespace

std::unique_ptr<SharedBounceBuffer> SharedBounceBuffer::Open(const Session& session) {
  absl::string_view path = session.connection().spec();
  if (!flags::RemoteSharedMemory() || session.acquired().shared_memory_bytes() < kLargePieceBytes ||
      !absl::ConsumePrefix(&path, "grpc+unix:")) {
    return nullptr;
  }
  absl::StatusOr<std::unique_ptr<files::SharedMemory>> memory = Fetch(path, session.acquired());
  if (!memory.ok()) {
    HPU_LOG(kBackend, kWarning)
        << "copies go through the socket, because sharing memory with the device server failed: " << memory.status();
    return nullptr;
  }
  return std::unique_ptr<SharedBounceBuffer>(new SharedBounceBuffer(*std::move(memory)));
}

uint64_t SharedBounceBuffer::PieceBytes(uint64_t copy_bytes) {
  return std::clamp(copy_bytes / kPiecesOfCopy, kSmallPieceBytes, kLargePieceBytes);
}

SharedBounceBuffer::SharedBounceBuffer(std::unique_ptr<files::SharedMemory> memory)
    : memory_(std::move(memory)), allocator_(memory_->size(), kCacheLine) {}

std::shared_ptr<char> SharedBounceBuffer::Allocate(uint64_t bytes) {
  std::unique_lock<std::mutex> lock(mutex_);
  std::optional<uint64_t> offset;
  returned_.wait(lock, [&] { return (offset = allocator_.Allocate(bytes)).has_value(); });
  return std::shared_ptr<char>(memory_->data() + *offset,
                               [this, offset = *offset, bytes](char*) { Free(offset, bytes); });
}

void SharedBounceBuffer::Free(uint64_t offset, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  allocator_.Free(offset, bytes);
  returned_.notify_all();
}

}  // namespace hpu::remote
