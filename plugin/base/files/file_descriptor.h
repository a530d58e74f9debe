// FileDescriptor: an open file, closed at the end of its scope.
#ifndef HPU_PLUGIN_BASE_FILES_FILE_DESCRIPTOR_H_
#define HPU_PLUGIN_BASE_FILES_FILE_DESCRIPTOR_H_

#include <unistd.h>

#include <utility>

namespace hpu::files {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.Release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) {
      Close();
      fd_ = other.Release();
    }
    return *this;
  }
  ~FileDescriptor() { Close(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  void Close() {
    if (fd_ >= 0) close(Release());
  }

  int fd_ = -1;
};

}  // namespace hpu::files

#endif  // HPU_PLUGIN_BASE_FILES_FILE_DESCRIPTOR_H_
