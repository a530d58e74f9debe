#include "plugin/backends/gaudi/device/device_files.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "plugin/base/log/log.h"

namespace hpu::gaudi {
namespace {

using Path = std::filesystem::path;

bool AnyEntry(const Path& folder, bool (*matches)(const Path& entry)) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (matches(entry->path())) return true;
  }
  return false;
}

// In the driver's folder, a card is a link named by its PCI address, such as 0000:19:00.0.
bool IsPciAddress(const Path& entry) { return absl::StrContains(entry.filename().string(), ':'); }

// Whether the driver has a card that this process may use. In a container, other cards have no device files.
bool HasCard(const Path& root) {
  const auto is_new = [](const Path& entry) {
    return IsDeviceFile(absl::StrCat("/dev/accel/", entry.filename().string()));
  };
  const auto is_old = [](const Path& entry) { return IsDeviceFile(absl::StrCat("/dev/", entry.filename().string())); };
  return AnyEntry(root / "sys/bus/pci/drivers/habanalabs", IsPciAddress) &&
         (AnyEntry(root / "dev/accel", is_new) || AnyEntry(root / "dev", is_old));
}

}  // namespace

bool IsDeviceFile(absl::string_view path) {
  int index = 0;
  return (absl::ConsumePrefix(&path, "/dev/accel/accel") || absl::ConsumePrefix(&path, "/dev/hl")) &&
         absl::SimpleAtoi(path, &index);
}

std::string FindGaudi(const std::string& root, const std::string& library) {
  if (!HasCard(root)) return "";
  if (const auto opened = synapse::Library::Open(library); !opened.ok()) {
    HPU_LOG(kBackend, kWarning) << "a Gaudi card is not used: " << opened.status().message();
    return "";
  }
  return "gaudi";
}

}  // namespace hpu::gaudi
