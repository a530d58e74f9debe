// SharedMemory: memory that processes share by handing its file descriptor on. It has no name and goes with its last
// user.
#ifndef HPU_PLUGIN_BASE_FILES_SHARED_MEMORY_H_
#define HPU_PLUGIN_BASE_FILES_SHARED_MEMORY_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "plugin/base/files/file_descriptor.h"

namespace hpu::files {

// Mapped for reading and writing, but not in forked children. Immutable but for its contents, which the other processes
// may change at any time: check what you have copied, not what is there.
class SharedMemory {
 public:
  // New and zero; pages are committed as they are touched. Nobody can change its size. ResourceExhausted if the system
  // has none.
  static absl::StatusOr<std::unique_ptr<SharedMemory>> Create(uint64_t bytes);
  // What another process made. FailedPrecondition unless it has that size for good: else that process could make it
  // smaller, and whoever touches what is gone is killed (SIGBUS). Nor may it be of huge pages, which can run out.
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
