#include "plugin/backends/emulator/codegen/object/object_loader.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/backends/emulator/codegen/object/object_file.h"
#include "plugin/base/round_up.h"
#include "plugin/base/status_macros.h"

namespace hpu::emulator {
namespace {

// Regions of the mapping, in this order, each with its own protection.
enum Region : uint8_t { kCode, kConstants, kData, kRegions, kNotLoaded = kRegions };

// Relative references are signed 32-bit offsets, so the whole mapping must be smaller than 2 GiB.
constexpr uint64_t kMaxBytes = uint64_t{1} << 31;
// Size of a stub: the instruction jmp *0(%rip), the 8-byte address, padding.
constexpr uint64_t kStubBytes = 16;
constexpr uint64_t kSlotBytes = 8;

Region RegionOf(const ObjectFile::Section& section) {
  if ((section.flags & SHF_ALLOC) == 0 || section.name == ".eh_frame") return kNotLoaded;
  if ((section.flags & SHF_EXECINSTR) != 0) return kCode;
  return (section.flags & SHF_WRITE) != 0 ? kData : kConstants;
}

bool NeedsSlot(uint32_t relocation_type) {
  return relocation_type == R_X86_64_GOTPCREL || relocation_type == R_X86_64_GOTPCRELX ||
         relocation_type == R_X86_64_REX_GOTPCRELX;
}

}  // namespace

// Links objects into one mapping: resolves symbols, lays out sections, applies relocations.
class ObjectLinker {
 public:
  explicit ObjectLinker(LoadedObject::Resolver resolve) : resolve_(resolve) {}

  void Add(const ObjectFile& file) {
    first_symbols_.push_back(file_.symbols.size());
    AppendObjectFile(file, &file_);
  }

  absl::StatusOr<std::unique_ptr<LoadedObject>> Link(absl::string_view entry) {
    HPU_RETURN_IF_ERROR(Resolve());
    HPU_RETURN_IF_ERROR(LayOut());
    HPU_RETURN_IF_ERROR(Map());
    HPU_RETURN_IF_ERROR(Relocate());
    HPU_RETURN_IF_ERROR(Protect());
    HPU_RETURN_IF_ERROR(FindEntries(entry));
    return std::move(object_);
  }

 private:
  // Collects the symbols that code reaches through stubs or slots, and resolves the undefined symbols among them.
  absl::Status Resolve() {
    absl::btree_set<absl::string_view> missing;
    for (const ObjectFile::Relocation& relocation : file_.relocations) {
      const ObjectFile::Symbol& symbol = file_.symbols[relocation.symbol];
      if (RegionOf(file_.sections[relocation.section]) == kNotLoaded || relocation.type == R_X86_64_NONE) continue;
      if (symbol.section != SHN_UNDEF && !NeedsSlot(relocation.type)) continue;
      auto [it, inserted] = indirect_.try_emplace(relocation.symbol);
      if (!inserted || symbol.section != SHN_UNDEF) continue;
      it->second.address = resolve_(std::string(symbol.name));
      if (it->second.address == nullptr) missing.insert(symbol.name);
    }
    if (missing.empty()) return absl::OkStatus();
    return absl::NotFoundError(
        absl::StrCat("undefined symbols in compiled code: ", absl::StrJoin(missing, ", "),
                     "; register a custom call target for platform Host before compiling the program"));
  }

  // Assigns an offset to every loaded section, stub and slot.
  absl::Status LayOut() {
    const uint64_t page = sysconf(_SC_PAGESIZE);
    offsets_.assign(file_.sections.size(), 0);
    uint64_t end = 0;
    for (uint8_t region = 0; region < kRegions; ++region) {
      end = region_begin_[region] = RoundUp(end, page);
      for (size_t i = 0; i < file_.sections.size(); ++i) {
        const ObjectFile::Section& section = file_.sections[i];
        if (RegionOf(section) != region) continue;
        if ((section.alignment & (section.alignment - 1)) != 0 || section.alignment > page) {
          return DamagedFile(absl::StrCat("section '", section.name, "' has alignment ", section.alignment,
                                          ", expected a power of two up to ", page));
        }
        end = offsets_[i] = RoundUp(end, section.alignment);
        if (section.size >= kMaxBytes - end) return DamagedFile("sections exceed 2 GiB");
        end += section.size;
      }
      if (region == kCode) end = PlaceIndirect(end, kStubBytes, &Indirect::stub);
      if (region == kConstants) end = PlaceIndirect(end, kSlotBytes, &Indirect::slot);
      if (end >= kMaxBytes - page) return DamagedFile("sections exceed 2 GiB");
    }
    size_ = RoundUp(end, page);
    return absl::OkStatus();
  }

  absl::Status Map() {
    if (size_ == 0) return DamagedFile("no sections to load");
    void* base = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) {
      return absl::ResourceExhaustedError(absl::StrCat("cannot map ", size_, " bytes for compiled code: ",
                                                       std::strerror(errno), "; free memory or raise ulimit -v"));
    }
    object_.reset(new LoadedObject(static_cast<char*>(base), size_));
    for (size_t i = 0; i < file_.sections.size(); ++i) {
      absl::string_view data = file_.sections[i].data;
      if (RegionOf(file_.sections[i]) != kNotLoaded && !data.empty()) {
        std::memcpy(object_->base_ + offsets_[i], data.data(), data.size());
      }
    }
    for (const auto& [symbol, indirect] : indirect_) {
      static constexpr char kJump[] = {'\xff', '\x25', 0, 0, 0, 0};
      std::memcpy(object_->base_ + indirect.stub, kJump, sizeof(kJump));
      std::memcpy(object_->base_ + indirect.stub + sizeof(kJump), &indirect.address, sizeof(indirect.address));
    }
    return absl::OkStatus();
  }

  absl::Status Relocate() {
    for (const ObjectFile::Relocation& relocation : file_.relocations) {
      if (RegionOf(file_.sections[relocation.section]) == kNotLoaded) continue;
      HPU_RETURN_IF_ERROR(Apply(relocation));
    }
    return absl::OkStatus();
  }

  // Applies a relocation by the formulas of the x86-64 psABI. Sums wrap around.
  absl::Status Apply(const ObjectFile::Relocation& relocation) {
    const uint64_t place =
        reinterpret_cast<uint64_t>(object_->base_) + offsets_[relocation.section] + relocation.offset;
    const uint64_t addend = static_cast<uint64_t>(relocation.addend);
    switch (relocation.type) {
      case R_X86_64_NONE:
        return absl::OkStatus();
      case R_X86_64_64:
      case R_X86_64_PC64: {
        HPU_ASSIGN_OR_RETURN(const uint64_t symbol, AddressOf(relocation.symbol, /*near=*/false));
        return Write<uint64_t>(relocation, symbol + addend - (relocation.type == R_X86_64_PC64 ? place : 0));
      }
      case R_X86_64_PC32:
      case R_X86_64_PLT32: {
        HPU_ASSIGN_OR_RETURN(const uint64_t symbol, AddressOf(relocation.symbol, /*near=*/true));
        return WriteRelative(relocation, symbol + addend - place);
      }
      case R_X86_64_GOTPCREL:
      case R_X86_64_GOTPCRELX:
      case R_X86_64_REX_GOTPCRELX: {
        HPU_ASSIGN_OR_RETURN(const uint64_t slot, SlotOf(relocation.symbol));
        return WriteRelative(relocation, slot + addend - place);
      }
      default:
        return absl::UnimplementedError(
            absl::StrCat("unsupported relocation type ", relocation.type, " in compiled code; recompile the program"));
    }
  }

  struct Indirect {
    void* address = nullptr;  // for symbols outside the object
    uint64_t stub = 0;        // offsets in the mapping
    uint64_t slot = 0;
  };

  uint64_t PlaceIndirect(uint64_t end, uint64_t bytes, uint64_t Indirect::*offset) {
    end = RoundUp(end, bytes);
    for (auto& [symbol, indirect] : indirect_) {
      indirect.*offset = end;
      end += bytes;
    }
    return end;
  }

  // `near`: the address must be within 2 GiB of the code, so undefined symbols yield the address of their stub.
  absl::StatusOr<uint64_t> AddressOf(uint32_t index, bool near) const {
    const ObjectFile::Symbol& symbol = file_.symbols[index];
    if (symbol.section == ObjectFile::kAbsolute) return symbol.value;
    if (symbol.section == SHN_UNDEF) {
      const Indirect& external = indirect_.at(index);
      return near ? reinterpret_cast<uint64_t>(object_->base_) + external.stub
                  : reinterpret_cast<uint64_t>(external.address);
    }
    if (RegionOf(file_.sections[symbol.section]) == kNotLoaded) {
      return DamagedFile(absl::StrCat("reference to '", symbol.name, "' in a section that is not loaded"));
    }
    return reinterpret_cast<uint64_t>(object_->base_) + offsets_[symbol.section] + symbol.value;
  }

  absl::StatusOr<uint64_t> SlotOf(uint32_t index) const {
    HPU_ASSIGN_OR_RETURN(const uint64_t address, AddressOf(index, /*near=*/false));
    const uint64_t slot = indirect_.at(index).slot;
    std::memcpy(object_->base_ + slot, &address, kSlotBytes);
    return reinterpret_cast<uint64_t>(object_->base_) + slot;
  }

  template <typename T>
  absl::Status Write(const ObjectFile::Relocation& relocation, T value) {
    const ObjectFile::Section& section = file_.sections[relocation.section];
    if (section.size < sizeof(T) || relocation.offset > section.size - sizeof(T)) {
      return DamagedFile(absl::StrCat("relocation of ", sizeof(T), " bytes at offset ", relocation.offset,
                                      " exceeds section '", section.name, "' of ", section.size, " bytes"));
    }
    std::memcpy(object_->base_ + offsets_[relocation.section] + relocation.offset, &value, sizeof(T));
    return absl::OkStatus();
  }

  absl::Status WriteRelative(const ObjectFile::Relocation& relocation, uint64_t value) {
    const int64_t distance = static_cast<int64_t>(value);
    if (distance < std::numeric_limits<int32_t>::min() || distance > std::numeric_limits<int32_t>::max()) {
      return DamagedFile(absl::StrCat("relative relocation ", distance, " does not fit in 32 bits"));
    }
    return Write<int32_t>(relocation, static_cast<int32_t>(distance));
  }

  absl::Status Protect() {
    static constexpr std::array<int, kRegions> kProtection = {PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE};
    for (uint8_t region = 0; region < kRegions; ++region) {
      const uint64_t begin = region_begin_[region];
      const uint64_t end = region + 1 < kRegions ? region_begin_[region + 1] : size_;
      if (begin < end && mprotect(object_->base_ + begin, end - begin, kProtection[region]) != 0) {
        return absl::InternalError(absl::StrCat("cannot make compiled code executable: ", std::strerror(errno),
                                                "; the emulator requires a system that allows executable mappings"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status FindEntries(absl::string_view entry) {
    first_symbols_.push_back(file_.symbols.size());
    for (size_t i = 0; i + 1 < first_symbols_.size(); ++i) {
      HPU_ASSIGN_OR_RETURN(void* address, FindEntry(entry, first_symbols_[i], first_symbols_[i + 1]));
      object_->entries_.push_back(address);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<void*> FindEntry(absl::string_view entry, size_t begin, size_t end) const {
    for (size_t i = begin; i < end; ++i) {
      const ObjectFile::Symbol& symbol = file_.symbols[i];
      if (symbol.name != entry || symbol.section == SHN_UNDEF || symbol.section == ObjectFile::kAbsolute) continue;
      if (RegionOf(file_.sections[symbol.section]) != kCode) break;
      return object_->base_ + offsets_[symbol.section] + symbol.value;
    }
    return DamagedFile(absl::StrCat("function '", entry, "' is missing"));
  }

  ObjectFile file_;                    // all objects, merged
  std::vector<size_t> first_symbols_;  // first symbol of each object
  const LoadedObject::Resolver resolve_;
  absl::flat_hash_map<uint32_t, Indirect> indirect_;  // by symbol index
  std::vector<uint64_t> offsets_;                     // by section
  std::array<uint64_t, kRegions> region_begin_ = {};
  uint64_t size_ = 0;
  std::unique_ptr<LoadedObject> object_;
};

LoadedObject::~LoadedObject() { munmap(base_, size_); }

absl::StatusOr<std::unique_ptr<LoadedObject>> LoadedObject::Load(absl::Span<const absl::string_view> objects,
                                                                 absl::string_view entry, Resolver resolve) {
  ObjectLinker linker(resolve);
  for (absl::string_view object : objects) {
    HPU_ASSIGN_OR_RETURN(const ObjectFile file, ParseObjectFile(object));
    linker.Add(file);
  }
  return linker.Link(entry);
}

}  // namespace hpu::emulator
