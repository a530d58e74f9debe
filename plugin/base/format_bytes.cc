#include "plugin/base/format_bytes.h"

#include "absl/strings/str_cat.h"

namespace hpu {

std::string FormatBytes(uint64_t bytes) {
  constexpr uint64_t kMebibyte = uint64_t{1} << 20;
  if (bytes < kMebibyte) return absl::StrCat(bytes, " bytes");
  const uint64_t tenth = bytes % kMebibyte * 10 / kMebibyte;  // rounded down
  return absl::StrCat(bytes / kMebibyte, tenth == 0 ? "" : absl::StrCat(".", tenth), " MiB");
}

}  // namespace hpu
