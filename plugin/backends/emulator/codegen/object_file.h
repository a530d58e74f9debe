// Reads x86-64 ELF relocatable objects. Every read is checked against the file's end: objects may be damaged.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OBJECT_FILE_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OBJECT_FILE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hpu::emulator {

// Views into the bytes that ParseObjectFile was given, which must outlive it.
struct ObjectFile {
  // In the place of a symbol's section: it has an address of its own.
  static constexpr uint32_t kAbsolute = ~uint32_t{0};

  struct Section {
    absl::string_view name;
    uint32_t type = 0;   // SHT_…
    uint64_t flags = 0;  // SHF_…
    uint64_t size = 0;   // bytes in memory
    uint64_t alignment = 1;
    absl::string_view data;  // `size` bytes; empty for SHT_NOBITS
  };
  struct Symbol {
    absl::string_view name;
    uint32_t section = 0;  // index, SHN_UNDEF or kAbsolute
    uint64_t value = 0;    // offset in the section, at most its size
  };
  struct Relocation {
    uint32_t section = 0;  // where it applies
    uint64_t offset = 0;   // in that section
    uint32_t type = 0;     // R_X86_64_…
    uint32_t symbol = 0;   // index
    int64_t addend = 0;
  };

  std::vector<Section> sections;
  std::vector<Symbol> symbols;
  std::vector<Relocation> relocations;
};

// Puts the contents of one object behind those of `all`. Symbols of one name stay symbols of their own.
void AppendObjectFile(const ObjectFile& file, ObjectFile* all);

// InvalidArgument where the bytes are no such object, naming the part that is wrong.
absl::StatusOr<ObjectFile> ParseObjectFile(absl::string_view bytes);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OBJECT_FILE_H_
