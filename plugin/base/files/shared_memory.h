// SharedMemory: anonymous memory that processes share by passing a file descriptor. The memory is freed when the last
// process closes the descriptor.
#ifndef HPU_PLUGIN_BASE_FILES_SHARED_MEMORY_H_
#define HPU_PLUGIN_BASE_FILES_SHARED_MEMORY_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "plugin/base/files/file_descriptor.h"

namespace hpu::files {

// Mapped for reading and writing, but not in forked children. Immutable except for its contents, which other processes
// may change at any time: copy data first, then check the copy.
class SharedMemory {
 public:
  // New, zeroed memory of a sealed, constant size. Pages are committed when touched. ResourceExhausted if the system
  // cannot create the memory.
  static absl::StatusOr<std::unique_ptr<SharedMemory>> Create(uint64_t bytes);
  // Maps memory that another process created. FailedPrecondition unless the size is `bytes` and sealed: access beyond a
  // shrunk size would kill this process (SIGBUS). Also refuses huge pages, because access raises SIGBUS when no huge
  // page is left.
  static absl::StatusOr<std::unique_ptr<SharedMemory>> Open(FileDescriptor file, uint64_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  char* data() const { return data_; }
  uint64_t size() const { return size_; }
  const FileDescriptor& file() const { return file_; }

 private:
  SharedMemory(FileDescriptor file, char* data, uint64_t size) : file_(std::move(file)), data_(data), size_(size) {}

  const FileDescriptor file_;
  char* const data_;
  const uint64_t size_;
};

}  // namespace hpu::files

#endif  // HPU_PLUGIN_BASE_FILES_SHARED_MEMORY_H_
