#include "plugin/backends/common/host_cpu.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "llvm/TargetParser/Host.h"

namespace hpu::common {
namespace {

HostCpu DetectHostCpu() {
  HostCpu cpu;
  llvm::StringRef name = llvm::sys::getHostCPUName();
  cpu.name.assign(name.data, name.length);
  static auto* map = new llvm::StringMap<bool, llvm::MallocAllocator>;
  std::vector<std::string> features;
  if (llvm::sys::getHostCPUFeatures(*map)) {
    for (unsigned i = 0; i < map->buckets(); ++i) {
      const llvm::StringMapEntryOfBool* entry = map->bucket(i);
      if (entry == nullptr) continue;
      features.push_back(absl::StrCat(entry->value ? "+" : "-", absl::string_view(entry->key(), entry->key_length)));
    }
  }
  std::sort(features.begin(), features.end());
  cpu.features = absl::StrJoin(features, ",");
  return cpu;
}

}  // namespace

const HostCpu& GetHostCpu() {
  static const auto* cpu = new HostCpu(DetectHostCpu());
  return *cpu;
}

}  // namespace hpu::common
