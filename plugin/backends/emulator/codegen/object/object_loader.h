// Loader of x86-64 ELF relocatable objects into this process, without a linker.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OBJECT_OBJECT_LOADER_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OBJECT_OBJECT_LOADER_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace hpu::emulator {

// Code and data of objects, mapped and relocated; unmapped on destruction. Code is executable but not writable;
// constants are neither. Supports the position-independent code that LLVM emits. Exceptions cannot pass through the
// code, because its unwind tables are not registered. Immutable and thread safe.
class LoadedObject {
 public:
  // Returns the address of an undefined symbol, or null.
  using Resolver = void* (*)(const std::string& name);

  // Maps the objects (at least one) and finds the function `entry` of each. An object cannot refer to symbols of
  // another object. Fails with InvalidArgument if the bytes are damaged, and with NotFound, which lists all unresolved
  // symbols. Fails with Unimplemented for an unsupported relocation type. Fails with ResourceExhausted if memory cannot
  // be mapped, and with Internal if the mapping cannot be made executable. `objects` may be freed afterwards.
  static absl::StatusOr<std::unique_ptr<LoadedObject>> Load(absl::Span<const absl::string_view> objects,
                                                            absl::string_view entry, Resolver resolve);
  ~LoadedObject();

  LoadedObject(const LoadedObject&) = delete;
  LoadedObject& operator=(const LoadedObject&) = delete;

  // Addresses of the entries, in the order of the objects.
  const std::vector<void*>& entries() const { return entries_; }
  // Bytes of the mapping.
  size_t size() const { return size_; }

 private:
  friend class ObjectLinker;

  LoadedObject(char* base, size_t size) : base_(base), size_(size) {}

  char* const base_;
  const size_t size_;
  std::vector<void*> entries_;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OBJECT_OBJECT_LOADER_H_
