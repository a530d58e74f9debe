#include "plugin/backends/pjrt/plugin_fingerprint.h"

#include <cstdint>
#include <fstream>
#include <map>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "plugin/compat/sha256.h"

namespace hpu::pjrt {
namespace {

constexpr uint64_t kEnd = 64 << 10;
constexpr uint64_t kPage = 4096;
constexpr uint64_t kPages = 512;

// Appends bytes [start, start + size) of the file to `sample`.
void Append(std::ifstream& file, uint64_t start, uint64_t size, std::string* sample) {
  const size_t before = sample->size();
  sample->resize(before + size);
  file.seekg(static_cast<std::streamoff>(start));
  file.read(sample->data() + before, static_cast<std::streamsize>(size));
}

std::string Compute(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return "";
  const auto size = static_cast<uint64_t>(file.tellg());
  std::string sample;
  if (size <= 2 * kEnd + kPages * kPage) {
    Append(file, 0, size, &sample);
  } else {
    Append(file, 0, kEnd, &sample);
    const uint64_t step = (size - 2 * kEnd - kPage) / (kPages - 1);
    for (uint64_t i = 0; i < kPages; ++i) Append(file, kEnd + i * step, kPage, &sample);
    Append(file, size - kEnd, kEnd, &sample);
  }
  if (!file) return "";
  return absl::StrCat(size, "-", Hex(Sha256({sample})).substr(0, 32));
}

}  // namespace

const std::string& PluginFingerprint(const std::string& path) {
  static auto* mutex = new std::mutex;
  static auto* known = new std::map<std::string, std::string>;
  const std::lock_guard<std::mutex> lock(*mutex);
  const auto found = known->find(path);
  return found != known->end() ? found->second : known->emplace(path, Compute(path)).first->second;
}

}  // namespace hpu::pjrt
