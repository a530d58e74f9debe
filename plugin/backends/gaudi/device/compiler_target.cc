#include "plugin/backends/gaudi/device/compiler_target.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "plugin/base/files/file_descriptor.h"
#include "plugin/base/flags/flags.h"
#include "plugin/base/status_macros.h"
#include "xla/tsl/lib/hash/crc32c.h"

namespace hpu::gaudi {
namespace {

// "name:size:checksum"
std::string KernelFile(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  const files::FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info;
  if (!file.valid() || fstat(file.get(), &info) != 0 || info.st_size <= 0) return name;
  const auto bytes = static_cast<size_t>(info.st_size);
  void* data = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED) return name;
  const uint32_t checksum = tsl::crc32c::Value(static_cast<const char*>(data), bytes);
  munmap(data, bytes);
  return absl::StrCat(name, ":", bytes, ":", absl::Hex(checksum, absl::kZeroPad8));
}

// "a.so:3,b.so:1"; empty if the release does not export the versions.
absl::StatusOr<std::string> TpcVersions(const synapse::Library& library) {
  const synapse::v1_18::Functions& functions = library.functions_1_18();
  if (functions.synTPCLibraryGetVersionSize == nullptr || functions.synTPCLibraryGetVersions == nullptr) return "";
  uint32_t count = 0;
  HPU_RETURN_IF_ERROR(HPU_SYNAPSE_CALL(functions, synTPCLibraryGetVersionSize, (&count)));
  std::vector<const char*> names(count, nullptr);
  std::vector<uint32_t> versions(count);
  if (count > 0) {
    HPU_RETURN_IF_ERROR(
        HPU_SYNAPSE_CALL(functions, synTPCLibraryGetVersions, (names.data(), versions.data()), "count=", count));
  }
  std::vector<std::string> texts;
  for (uint32_t i = 0; i < count; ++i) {
    const std::string path = names[i] == nullptr ? "" : names[i];
    texts.push_back(absl::StrCat(std::filesystem::path(path).filename().string(), ":", versions[i]));
  }
  return absl::StrJoin(texts, ",");
}

}  // namespace

std::string KernelFiles(const std::vector<std::string>& paths) {
  return absl::StrJoin(paths, ",", [](std::string* out, const std::string& path) { out->append(KernelFile(path)); });
}

absl::StatusOr<std::string> CompilerTarget(const synapse::Library& library, synapse::Generation generation) {
  HPU_ASSIGN_OR_RETURN(const std::string tpc, TpcVersions(library));
  const std::vector<std::string> kernels = absl::StrSplit(flags::GcKernelPath(), ':', absl::SkipEmpty());
  return absl::StrCat(synapse::GenerationName(generation), " synapse=", library.version(),
                      " abi=", synapse::ProfileName(library.profile()), " tpc=", tpc, " kernels=", KernelFiles(kernels),
                      flags::GaudiUnproven() ? " unproven" : "");
}

}  // namespace hpu::gaudi
