#include "plugin/backends/remote/shared_staging.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "plugin/files/descriptor_socket.h"
#include "plugin/flags/flags.h"
#include "plugin/hal/status_macros.h"
#include "plugin/log/log.h"

namespace hpu::remote {
namespace {

// From the socket beside the server's.
absl::StatusOr<std::unique_ptr<files::SharedMemory>> Fetch(absl::string_view server_path,
                                                           const proto::Acquired& acquired) {
  HPU_ASSIGN_OR_RETURN(const files::FileDescriptor socket,
                       files::ConnectTo(absl::StrCat(server_path, kMemorySocketSuffix)));
  if (!files::Send(socket, acquired.session())) return absl::UnavailableError("the server has gone");
  HPU_ASSIGN_OR_RETURN(files::FileDescriptor file, files::ReceiveFile(socket));
  return files::SharedMemory::Open(std::move(file), acquired.shared_memory_bytes());
}

}  // namespace

std::unique_ptr<SharedStaging> SharedStaging::Open(const Session& session) {
  absl::string_view path = session.connection().spec();
  if (!flags::RemoteSharedMemory() || session.acquired().shared_memory_bytes() < kPieceBytes ||
      !absl::ConsumePrefix(&path, "grpc+unix:")) {
    return nullptr;
  }
  absl::StatusOr<std::unique_ptr<files::SharedMemory>> memory = Fetch(path, session.acquired());
  if (!memory.ok()) {
    HPU_LOG(kBackend, kWarning) << "copies go over the socket, no shared memory: " << memory.status();
    return nullptr;
  }
  return std::unique_ptr<SharedStaging>(new SharedStaging(*std::move(memory)));
}

SharedStaging::SharedStaging(std::unique_ptr<files::SharedMemory> memory) : memory_(std::move(memory)) {
  for (uint64_t end = memory_->size() / kPieceBytes * kPieceBytes; end > 0; end -= kPieceBytes) {
    free_.push_back(memory_->data() + end - kPieceBytes);
  }
}

std::shared_ptr<char> SharedStaging::Take() {
  std::unique_lock<std::mutex> lock(mutex_);
  returned_.wait(lock, [this] { return !free_.empty(); });
  char* const piece = free_.back();
  free_.pop_back();
  return std::shared_ptr<char>(piece, [this](char* used) { Return(used); });
}

void SharedStaging::Return(char* piece) {
  std::lock_guard<std::mutex> lock(mutex_);
  free_.push_back(piece);
  returned_.notify_one();
}

}  // namespace hpu::remote
