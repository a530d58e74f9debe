#include "plugin/recipes/store_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>

#include "absl/strings/str_cat.h"
#include "plugin/base/files/make_directories.h"
#include "plugin/base/status_macros.h"
#include "plugin/recipes/entry.h"
#include "plugin/recipes/file_names.h"

namespace hpu::recipes {
namespace {

using files::FileDescriptor;

// A file's time of last use is updated at most once a minute, to save writes.
constexpr time_t kTouchSeconds = 60;
constexpr uint64_t kMaxMetadataBytes = uint64_t{1} << 20;

absl::Status SystemError(absl::string_view what) {
  const int code = errno;
  const std::string message = absl::StrCat(what, ": ", std::strerror(code));
  if (code == ENOENT) return absl::NotFoundError(message);
  if (code == ENOSPC || code == EDQUOT) return absl::ResourceExhaustedError(message);
  return absl::UnavailableError(message);
}

// FailedPrecondition if the file is not trusted. Root is trusted, because root can write any file.
absl::Status CheckTrust(const struct stat& info, const std::string& path) {
  if (info.st_uid != geteuid() && info.st_uid != 0) {
    return absl::FailedPreconditionError(absl::StrCat(path, " is owned by user ", info.st_uid,
                                                      "; the owner must be you (user ", geteuid(), ") or root"));
  }
  if ((info.st_mode & 022) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " can be written by other users; if you trust its contents, run: chmod go-w ", path));
  }
  return absl::OkStatus();
}

bool WriteAll(int fd, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(written);
  }
  return true;
}

// Reads from byte `done` on.
bool ReadRest(int fd, size_t done, std::string* bytes) {
  while (done < bytes->size()) {
    const ssize_t got = read(fd, bytes->data() + done, bytes->size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) break;
    done += got;
  }
  bytes->resize(done);  // shorter after a concurrent truncation, which parsing detects
  return true;
}

}  // namespace

absl::StatusOr<StoreDirectory> StoreDirectory::Open(const std::string& path, bool make) {
  FileDescriptor directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.valid() && errno == ENOENT && make) {
    if (!files::MakeDirectories(path, 0700)) return SystemError(absl::StrCat("cannot create ", path));
    directory = FileDescriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  struct stat info;
  if (!directory.valid() || fstat(directory.get(), &info) != 0) return SystemError(absl::StrCat("cannot open ", path));
  HPU_RETURN_IF_ERROR(CheckTrust(info, path));
  return StoreDirectory(path, std::move(directory));
}

absl::StatusOr<FileDescriptor> StoreDirectory::OpenEntry(absl::string_view name, std::string* header,
                                                         struct stat* info) const {
  FileDescriptor file(openat(fd(), std::string(name).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.valid() || fstat(file.get(), info) != 0) return Error(name, "cannot be opened");
  if (!S_ISREG(info->st_mode)) {
    return absl::FailedPreconditionError(absl::StrCat(path_, "/", name, " is not a regular file"));
  }
  HPU_RETURN_IF_ERROR(CheckTrust(*info, absl::StrCat(path_, "/", name)));
  flock(file.get(), LOCK_SH | LOCK_NB);  // eviction skips files that are being read
  header->assign(kHeaderBytes, '\0');
  if (!ReadRest(file.get(), 0, header)) return Error(name, "cannot be read");
  HPU_RETURN_IF_ERROR(CheckHeader(*header, info->st_size));
  return file;
}

absl::StatusOr<std::string> StoreDirectory::ReadMetadata(absl::string_view name) const {
  std::string bytes;
  struct stat info;
  HPU_ASSIGN_OR_RETURN(const FileDescriptor file, OpenEntry(name, &bytes, &info));
  const MetadataRange range = MetadataRangeOf(bytes);
  if (range.bytes > kMaxMetadataBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(path_, "/", name, ": ", range.bytes, " bytes of metadata; expected at most ", kMaxMetadataBytes));
  }
  bytes.assign(range.bytes, '\0');
  if (lseek(file.get(), static_cast<off_t>(range.offset), SEEK_SET) < 0 || !ReadRest(file.get(), 0, &bytes)) {
    return Error(name, "cannot be read");
  }
  return bytes;
}

absl::StatusOr<std::string> StoreDirectory::Read(absl::string_view name, bool touch) const {
  std::string bytes;
  struct stat info;
  HPU_ASSIGN_OR_RETURN(const FileDescriptor file, OpenEntry(name, &bytes, &info));
  bytes.resize(info.st_size);
  if (!ReadRest(file.get(), kHeaderBytes, &bytes)) return Error(name, "cannot be read");
  if (touch && time(nullptr) - info.st_mtim.tv_sec > kTouchSeconds) {
    const timespec times[2] = {{0, UTIME_OMIT}, {0, UTIME_NOW}};
    futimens(file.get(), times);
  }
  return bytes;
}

absl::Status StoreDirectory::Write(absl::string_view name, absl::string_view bytes) const {
  static std::atomic<int> number{0};
  const std::string temporary = TemporaryName(getpid(), number.fetch_add(1), name);
  const absl::Status written = WriteNew(temporary, bytes);
  if (written.ok() && renameat(fd(), temporary.c_str(), fd(), std::string(name).c_str()) == 0) {
    fsync(fd());
    return absl::OkStatus();
  }
  const absl::Status status = written.ok() ? Error(name, "cannot be moved into place") : written;
  unlinkat(fd(), temporary.c_str(), 0);
  return status;
}

absl::Status StoreDirectory::WriteNew(const std::string& name, absl::string_view bytes) const {
  const FileDescriptor file(openat(fd(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.valid()) return Error(name, "cannot be created");
  // Locked during writing, because the next cleaning removes unlocked temporary files as leftovers.
  flock(file.get(), LOCK_EX | LOCK_NB);
  if (!WriteAll(file.get(), bytes)) return Error(name, "cannot be written");
  if (fsync(file.get()) != 0) return Error(name, "cannot be flushed to disk");
  return absl::OkStatus();
}

absl::StatusOr<FileDescriptor> StoreDirectory::OpenLockFile(absl::string_view name) const {
  FileDescriptor file(
      openat(fd(), std::string(name).c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  if (!file.valid()) return Error(name, "cannot be opened");
  return file;
}

bool StoreDirectory::IsSame(absl::string_view name, const FileDescriptor& file) const {
  struct stat there, here;
  return fstatat(fd(), std::string(name).c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 && fstat(file.get(), &here) == 0 &&
         there.st_dev == here.st_dev && there.st_ino == here.st_ino;
}

absl::Status StoreDirectory::Rename(absl::string_view from, absl::string_view to) const {
  if (renameat(fd(), std::string(from).c_str(), fd(), std::string(to).c_str()) == 0) return absl::OkStatus();
  return Error(from, "cannot be renamed");
}

absl::Status StoreDirectory::Remove(absl::string_view name) const {
  if (unlinkat(fd(), std::string(name).c_str(), 0) == 0 || errno == ENOENT) return absl::OkStatus();
  return Error(name, "cannot be removed");
}

absl::StatusOr<std::vector<StoreDirectory::File>> StoreDirectory::List() const {
  FileDescriptor copy(openat(fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  DIR* stream = copy.valid() ? fdopendir(copy.get()) : nullptr;
  if (stream == nullptr) return SystemError(absl::StrCat(path_, " cannot be listed"));
  copy.Release();  // owned by the stream now
  const std::unique_ptr<DIR, int (*)(DIR*)> closer(stream, &closedir);
  std::vector<File> files;
  while (const dirent* entry = readdir(stream)) {
    struct stat info;
    if (fstatat(fd(), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode)) continue;
    files.push_back({entry->d_name, info.st_size, info.st_mtim});
  }
  return files;
}

absl::Status StoreDirectory::Error(absl::string_view name, absl::string_view what) const {
  return SystemError(absl::StrCat(path_, "/", name, " ", what));
}

}  // namespace hpu::recipes
