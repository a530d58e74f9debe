// Parser of x86-64 ELF relocatable objects. Every read is checked against the file's end, because objects may be
// damaged.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OBJECT_OBJECT_FILE_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OBJECT_OBJECT_FILE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hpu::emulator {

// Holds views into the bytes that were passed to ParseObjectFile. The bytes must outlive the ObjectFile.
struct ObjectFile {
  // Value of Symbol::section for a symbol with an absolute address.
  static constexpr uint32_t kAbsolute = ~uint32_t{0};

  struct Section {
    absl::string_view name;
    uint32_t type = 0;   // SHT_…
    uint64_t flags = 0;  // SHF_…
    uint64_t size = 0;   // bytes in memory
    uint64_t alignment = 1;
    absl::string_view data;  // `size` bytes; empty for SHT_NULL and SHT_NOBITS
  };
  struct Symbol {
    absl::string_view name;
    uint32_t section = 0;  // index, SHN_UNDEF or kAbsolute
    uint64_t value = 0;    // offset in the section, at most its size; for kAbsolute, the address
  };
  struct Relocation {
    uint32_t section = 0;  // section to which the relocation applies
    uint64_t offset = 0;   // in `section`
    uint32_t type = 0;     // R_X86_64_…
    uint32_t symbol = 0;   // index
    int64_t addend = 0;
  };

  std::vector<Section> sections;
  std::vector<Symbol> symbols;
  std::vector<Relocation> relocations;
};

// Appends the contents of `file` to `all`. Symbols of the same name stay separate.
void AppendObjectFile(const ObjectFile& file, ObjectFile* all);

// InvalidArgument error for an object that cannot be parsed or loaded. `what`: the malformed part.
absl::Status DamagedFile(absl::string_view what);

// Fails with InvalidArgument, which names the malformed part, if the bytes are not an x86-64 ELF relocatable object.
absl::StatusOr<ObjectFile> ParseObjectFile(absl::string_view bytes);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OBJECT_OBJECT_FILE_H_
