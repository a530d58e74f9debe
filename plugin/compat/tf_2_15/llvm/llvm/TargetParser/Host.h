// LLVM's host detection, with LLVM's names and layouts (see ../../README.md).
#ifndef HPU_PLUGIN_COMPAT_TF_2_15_LLVM_LLVM_TARGETPARSER_HOST_H_
#define HPU_PLUGIN_COMPAT_TF_2_15_LLVM_LLVM_TARGETPARSER_HOST_H_

#include <cstddef>

namespace llvm {

struct StringRef {
  const char* data;
  size_t length;
};

class MallocAllocator {};

// The key is stored directly after the entry.
struct StringMapEntryOfBool {
  size_t key_length;
  bool value;

  const char* key() const { return reinterpret_cast<const char*>(this + 1); }
};

template <typename Value, typename Allocator>
class StringMap;

// Filled by LLVM. The map's memory is never freed, because callers keep the map for the whole process.
template <>
class StringMap<bool, MallocAllocator> {
 public:
  unsigned buckets() const { return buckets_; }
  // Null if the bucket is empty. (Only erasing creates tombstones.)
  const StringMapEntryOfBool* bucket(unsigned index) const { return table_[index]; }

 private:
  StringMapEntryOfBool** table_ = nullptr;
  unsigned buckets_ = 0;
  unsigned items_ = 0;
  unsigned tombstones_ = 0;
  unsigned item_size_ = sizeof(StringMapEntryOfBool);
};

namespace sys {
StringRef getHostCPUName();
bool getHostCPUFeatures(StringMap<bool, MallocAllocator>& features);
}  // namespace sys

}  // namespace llvm

#endif  // HPU_PLUGIN_COMPAT_TF_2_15_LLVM_LLVM_TARGETPARSER_HOST_H_
