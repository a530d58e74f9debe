#include "plugin/compat/llvm_host.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "plugin/compat/tf_2_15/llvm/llvm/TargetParser/Host.h"

namespace hpu::compat {

LlvmHost DetectLlvmHost() {
  LlvmHost host;
  const llvm::StringRef name = llvm::sys::getHostCPUName();
  host.cpu.assign(name.data, name.length);
  static auto* map = new llvm::StringMap<bool, llvm::MallocAllocator>;
  if (!llvm::sys::getHostCPUFeatures(*map)) return host;
  for (unsigned i = 0; i < map->buckets(); ++i) {
    const llvm::StringMapEntryOfBool* entry = map->bucket(i);
    if (entry == nullptr) continue;
    host.features.push_back(absl::StrCat(entry->value ? "+" : "-", absl::string_view(entry->key(), entry->key_length)));
  }
  return host;
}

}  // namespace hpu::compat
