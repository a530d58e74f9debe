// DirectoryStore: key-value store in a directory that the processes of a job on one machine share.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_DIRECTORY_STORE_H_
#define HPU_PLUGIN_BACKENDS_PJRT_DIRECTORY_STORE_H_

#include <string>
#include <utility>

#include "plugin/backends/pjrt/client/key_value_store.h"

namespace hpu::pjrt {

// One file per key. A value is written to a file with a temporary name and renamed, so readers see whole values only.
// Get polls, because a process that has been killed cannot wake the others.
class DirectoryStore final : public KeyValueStore {
 public:
  // `directory` must exist. Names in it begin with `prefix`, which distinguishes users of the directory.
  DirectoryStore(std::string directory, std::string prefix)
      : directory_(std::move(directory)), prefix_(std::move(prefix)) {}

  absl::StatusOr<std::string> Get(absl::string_view key, std::chrono::milliseconds timeout) override;
  absl::StatusOr<std::string> TryGet(absl::string_view key) override;
  absl::Status Put(absl::string_view key, absl::string_view value) override;

 private:
  std::string PathOf(absl::string_view key) const;

  const std::string directory_;
  const std::string prefix_;
};

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_DIRECTORY_STORE_H_
