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

namespace hpu::recipes {

// The directory may be removed and recreated at any time, so no state is kept between operations. Names never contain a
// slash. Errors name the file: FailedPrecondition (not a regular file, or another user may have written it), NotFound,
// ResourceExhausted (disk full) or Unavailable (all other system errors).
class StoreDirectory {
 public:
  // FailedPrecondition if the directory belongs neither to this user nor to root, or if other users may write to the
  // directory. `make` creates the directory and its parents with access for this user only.
  static absl::StatusOr<StoreDirectory> Open(const std::string& path, bool make);

  // The bytes of an entry. FailedPrecondition if the file belongs neither to this user nor to root, or if other users
  // may write to the file. `touch` marks the entry as used now. InvalidArgument if the header does not match the file's
  // size; ParseEntry checks the rest.
  absl::StatusOr<std::string> Read(absl::string_view name, bool touch) const;
  // The metadata of an entry. Reads only the file's header and the metadata, so no checksum is verified. Fails like
  // Read; also with InvalidArgument if the metadata is larger than a mebibyte.
  absl::StatusOr<std::string> ReadMetadata(absl::string_view name) const;
  // Writes a file atomically. Only this user can read the file. The file is on disk when Write returns.
  absl::Status Write(absl::string_view name, absl::string_view bytes) const;
  // Opens a lock file, creating it if necessary.
  absl::StatusOr<files::FileDescriptor> OpenLockFile(absl::string_view name) const;
  // Whether `name` still refers to the file that `file` holds open.
  bool IsSame(absl::string_view name, const files::FileDescriptor& file) const;
  absl::Status Rename(absl::string_view from, absl::string_view to) const;
  // Succeeds even if the file does not exist.
  absl::Status Remove(absl::string_view name) const;

  struct File {
    std::string name;
    int64_t bytes = 0;
    timespec used{};  // modification time, which Read with `touch` updates
  };
  // Regular files, in no particular order.
  absl::StatusOr<std::vector<File>> List() const;

  const std::string& path() const { return path_; }
  int fd() const { return directory_.get(); }

 private:
  StoreDirectory(std::string path, files::FileDescriptor directory)
      : path_(std::move(path)), directory_(std::move(directory)) {}

  // Opens an entry for reading. Sets `header`, which has passed CheckHeader, and `info`.
  absl::StatusOr<files::FileDescriptor> OpenEntry(absl::string_view name, std::string* header, struct stat* info) const;
  absl::Status Error(absl::string_view name, absl::string_view what) const;  // the message includes errno
  absl::Status WriteNew(const std::string& name, absl::string_view bytes) const;

  std::string path_;
  files::FileDescriptor directory_;
};

}  // namespace hpu::recipes

#endif  // HPU_PLUGIN_RECIPES_STORE_DIRECTORY_H_
