// StoreDirectory: the directory of a recipe cache, opened for one operation.
#ifndef HPU_PLUGIN_RECIPES_STORE_DIRECTORY_H_
#define HPU_PLUGIN_RECIPES_STORE_DIRECTORY_H_

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/base/files/file_descriptor.h"

namespace hpu::store {

// A directory may vanish and be made again at any time, so nothing is kept between operations. Names never hold a
// slash. Errors are FailedPrecondition (somebody else could have written it), NotFound, ResourceExhausted (disk full)
// or Unavailable (whatever else the system says), and name the file.
class StoreDirectory {
 public:
  // FailedPrecondition if it is not this user's (or root's) or others may write to it. `make` creates it, and the
  // directories above it, for this user alone.
  static absl::StatusOr<StoreDirectory> Open(const std::string& path, bool make);

  // All of an entry that this user (or root) owns and that others may not write. Marks it as used now if `touch`.
  // InvalidArgument if its header is not that of an entry of its size; whatever follows is for ParseEntry to check.
  absl::StatusOr<std::string> Read(absl::string_view name, bool touch) const;
  // Puts a file in place whole, or not at all; readable by this user alone; on the disk when this returns.
  absl::Status Write(absl::string_view name, absl::string_view bytes) const;
  // Opens a lock file, making it if there is none.
  absl::StatusOr<files::FileDescriptor> OpenLockFile(absl::string_view name) const;
  // Whether `name` still is the file that `file` holds open.
  bool IsSame(absl::string_view name, const files::FileDescriptor& file) const;
  absl::Status Rename(absl::string_view from, absl::string_view to) const;
  // No error if there is none.
  absl::Status Remove(absl::string_view name) const;

  struct File {
    std::string name;
    int64_t bytes = 0;
    timespec used{};  // modification time, which Read moves on
  };
  // Ordinary files, in no order.
  absl::StatusOr<std::vector<File>> List() const;

  const std::string& path() const { return path_; }
  int fd() const { return directory_.get(); }

 private:
  StoreDirectory(std::string path, files::FileDescriptor directory)
      : path_(std::move(path)), directory_(std::move(directory)) {}

  absl::Status Error(absl::string_view name, absl::string_view what) const;  // with errno
  absl::Status WriteNew(const std::string& name, absl::string_view bytes) const;

  std::string path_;
  files::FileDescriptor directory_;
};

}  // namespace hpu::store

#endif  // HPU_PLUGIN_RECIPES_STORE_DIRECTORY_H_
