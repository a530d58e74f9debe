#include "plugin/base/files/shared_memory.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/base/version/contact.h"

namespace hpu::files {
namespace {

constexpr int kSizeSeals = F_SEAL_SHRINK | F_SEAL_GROW;

absl::Status Failure(const char* what, uint64_t bytes) {
  return absl::ResourceExhaustedError(absl::StrCat("cannot ", what, " ", bytes, " bytes of shared memory: ",
                                                   std::strerror(errno), "; free memory or raise the memory limit"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<SharedMemory>> SharedMemory::Create(uint64_t bytes) {
  FileDescriptor file(memfd_create("hpu", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.valid() || ftruncate(file.get(), static_cast<off_t>(bytes)) != 0 ||
      fcntl(file.get(), F_ADD_SEALS, kSizeSeals | F_SEAL_SEAL) != 0) {
    return Failure("create", bytes);
  }
  return Open(std::move(file), bytes);
}

absl::StatusOr<std::unique_ptr<SharedMemory>> SharedMemory::Open(FileDescriptor file, uint64_t bytes) {
  struct stat info = {};
  struct statfs system = {};
  const int seals = fcntl(file.get(), F_GET_SEALS);  // fails for files on disk
  if (seals < 0 || fstat(file.get(), &info) != 0 || fstatfs(file.get(), &system) != 0) {
    return absl::FailedPreconditionError(absl::StrCat("cannot map shared memory of ", bytes,
                                                      " bytes: its file is not a memfd (", std::strerror(errno),
                                                      "); " HPU_REPORT_BUG));
  }
  if ((seals & kSizeSeals) != kSizeSeals) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot map shared memory of ", bytes,
                     " bytes: its size is not sealed; expected the seals F_SEAL_SHRINK and F_SEAL_GROW on the memfd"));
  }
  if (static_cast<uint64_t>(info.st_size) != bytes) {
    return absl::FailedPreconditionError(absl::StrCat("shared memory has ", info.st_size, " bytes, expected ", bytes,
                                                      " bytes; pass the creator's size"));
  }
  if (system.f_type == HUGETLBFS_MAGIC) {  // access fails when huge pages have run out
    return absl::FailedPreconditionError("shared memory of huge pages is not supported: create it without MFD_HUGETLB");
  }
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file.get(), 0);
  if (data == MAP_FAILED) return Failure("map", bytes);
  madvise(data, bytes, MADV_DONTFORK);
  madvise(data, bytes, MADV_DONTDUMP);
  return std::unique_ptr<SharedMemory>(new SharedMemory(std::move(file), static_cast<char*>(data), bytes));
}

SharedMemory::~SharedMemory() { munmap(data_, size_); }

}  // namespace hpu::files
