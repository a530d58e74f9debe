// Loads x86-64 ELF relocatable objects into this process, without a linker.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_OBJECT_LOADER_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_OBJECT_LOADER_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hpu::emulator {

// Code and data of one object, mapped and relocated; unmapped on destruction. Code is executable and not writable,
// constants are neither. Takes what LLVM emits for position-independent code; exceptions cannot pass through the code,
// for its unwind tables are not registered. Immutable and thread safe.
class LoadedObject {
 public:
  // Address of an undefined symbol, or null.
  using Resolver = void* (*)(const std::string& name);

  // Maps `object` and finds its function `entry`. InvalidArgument if the bytes are damaged, NotFound if symbols are
  // unresolved (all are named), Unimplemented for a relocation type that this loader lacks, ResourceExhausted if memory
  // cannot be mapped. `object` is not used afterwards.
  static absl::StatusOr<std::unique_ptr<LoadedObject>> Load(absl::string_view object, absl::string_view entry,
                                                            Resolver resolve);
  ~LoadedObject();

  LoadedObject(const LoadedObject&) = delete;
  LoadedObject& operator=(const LoadedObject&) = delete;

  // The entry's address.
  void* entry() const { return entry_; }
  // Mapped bytes.
  size_t size() const { return size_; }

 private:
  friend class ObjectLinker;

  LoadedObject(char* base, size_t size) : base_(base), size_(size) {}

  char* const base_;
  const size_t size_;
  void* entry_ = nullptr;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_OBJECT_LOADER_H_
