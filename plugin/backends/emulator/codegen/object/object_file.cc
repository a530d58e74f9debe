#include "plugin/backends/emulator/codegen/object/object_file.h"

#include <elf.h>

#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"

namespace hpu::emulator {

absl::Status DamagedFile(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("the object file is damaged: ", what, "; recompile the program"));
}

namespace {

// True if `bytes` contains [offset, offset + size).
bool Within(absl::string_view bytes, uint64_t offset, uint64_t size) {
  return offset <= bytes.size() && size <= bytes.size() - offset;
}

template <typename T>
bool Read(absl::string_view bytes, uint64_t offset, T* value) {
  if (!Within(bytes, offset, sizeof(T))) return false;
  std::memcpy(value, bytes.data() + offset, sizeof(T));
  return true;
}

// The zero-terminated string at `offset` of a string table.
bool ReadString(absl::string_view table, uint64_t offset, absl::string_view* value) {
  if (offset >= table.size()) return false;
  size_t end = table.find('\0', offset);
  if (end == absl::string_view::npos) return false;
  *value = table.substr(offset, end - offset);
  return true;
}

class Parser {
 public:
  explicit Parser(absl::string_view bytes) : bytes_(bytes) {}

  absl::StatusOr<ObjectFile> Parse() {
    HPU_RETURN_IF_ERROR(ReadHeader());
    HPU_RETURN_IF_ERROR(ReadSections());
    HPU_RETURN_IF_ERROR(ReadSymbols());
    HPU_RETURN_IF_ERROR(ReadRelocations());
    return std::move(file_);
  }

 private:
  absl::Status ReadHeader() {
    if (!Read(bytes_, 0, &header_))
      return DamagedFile(
          absl::StrCat("shorter than its header: ", bytes_.size(), " bytes, expected at least ", sizeof(header_)));
    if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0) return DamagedFile("not an ELF file");
    if (header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB ||
        header_.e_type != ET_REL || header_.e_machine != EM_X86_64) {
      return DamagedFile("not an x86-64 relocatable object");
    }
    if (header_.e_shentsize != sizeof(Elf64_Shdr))
      return DamagedFile(
          absl::StrCat("section headers have ", header_.e_shentsize, " bytes, expected ", sizeof(Elf64_Shdr)));
    return absl::OkStatus();
  }

  absl::Status ReadSections() {
    headers_.resize(header_.e_shnum);
    file_.sections.resize(header_.e_shnum);
    if (!Within(bytes_, header_.e_shoff, headers_.size() * sizeof(Elf64_Shdr))) {
      return DamagedFile(absl::StrCat("the section table, ", headers_.size(), " headers at offset ", header_.e_shoff,
                                      ", exceeds the file of ", bytes_.size(), " bytes"));
    }
    for (size_t i = 0; i < headers_.size(); ++i) {
      Elf64_Shdr& header = headers_[i];
      Read(bytes_, header_.e_shoff + i * sizeof(Elf64_Shdr), &header);
      ObjectFile::Section& section = file_.sections[i];
      section.type = header.sh_type;
      section.flags = header.sh_flags;
      section.size = header.sh_size;
      section.alignment = header.sh_addralign == 0 ? 1 : header.sh_addralign;
      if (section.type == SHT_NULL || section.type == SHT_NOBITS) continue;
      if (!Within(bytes_, header.sh_offset, header.sh_size))
        return DamagedFile(absl::StrCat("section ", i, ", ", header.sh_size, " bytes at offset ", header.sh_offset,
                                        ", exceeds the file of ", bytes_.size(), " bytes"));
      section.data = bytes_.substr(header.sh_offset, header.sh_size);
    }
    if (header_.e_shstrndx >= headers_.size())
      return DamagedFile(absl::StrCat("section names are in section ", header_.e_shstrndx, ", but the file has ",
                                      headers_.size(), " sections"));
    absl::string_view names = file_.sections[header_.e_shstrndx].data;
    for (size_t i = 0; i < headers_.size(); ++i) {
      if (!ReadString(names, headers_[i].sh_name, &file_.sections[i].name)) {
        return DamagedFile(absl::StrCat("section ", i, " has the invalid name offset ", headers_[i].sh_name));
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadSymbols() {
    for (size_t i = 0; i < headers_.size(); ++i) {
      if (headers_[i].sh_type != SHT_SYMTAB) continue;
      if (symbol_table_ != 0) return DamagedFile("more than one symbol table");
      symbol_table_ = i;
    }
    if (symbol_table_ == 0) return DamagedFile("no symbol table");
    if (headers_[symbol_table_].sh_link >= headers_.size())
      return DamagedFile(absl::StrCat("symbol names are in section ", headers_[symbol_table_].sh_link,
                                      ", but the file has ", headers_.size(), " sections"));
    absl::string_view names = file_.sections[headers_[symbol_table_].sh_link].data;
    absl::string_view data = file_.sections[symbol_table_].data;
    file_.symbols.resize(data.size() / sizeof(Elf64_Sym));
    for (size_t i = 0; i < file_.symbols.size(); ++i) {
      Elf64_Sym raw;
      Read(data, i * sizeof(Elf64_Sym), &raw);
      ObjectFile::Symbol& symbol = file_.symbols[i];
      symbol.section = raw.st_shndx == SHN_ABS ? ObjectFile::kAbsolute : raw.st_shndx;
      symbol.value = raw.st_value;
      if (!ReadString(names, raw.st_name, &symbol.name))
        return DamagedFile(absl::StrCat("symbol ", i, " has the invalid name offset ", raw.st_name));
      if (raw.st_shndx == SHN_UNDEF || raw.st_shndx == SHN_ABS) continue;
      if (raw.st_shndx >= headers_.size()) {
        return DamagedFile(absl::StrCat("symbol '", symbol.name, "' is in section ", raw.st_shndx,
                                        ", but the file has ", headers_.size(), " sections"));
      }
      if (raw.st_value > file_.sections[raw.st_shndx].size) {
        return DamagedFile(absl::StrCat("symbol '", symbol.name, "' has offset ", raw.st_value, " in a section of ",
                                        file_.sections[raw.st_shndx].size, " bytes"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadRelocations() {
    for (size_t i = 0; i < headers_.size(); ++i) {
      if (headers_[i].sh_type == SHT_REL)
        return DamagedFile(
            absl::StrCat("section ", i, " has relocations without addends (SHT_REL), expected SHT_RELA"));
      if (headers_[i].sh_type != SHT_RELA) continue;
      if (headers_[i].sh_info >= headers_.size() || headers_[i].sh_link != symbol_table_) {
        return DamagedFile(absl::StrCat("relocation section ", i, " refers to section ", headers_[i].sh_info, " of ",
                                        headers_.size(), " and to symbol table ", headers_[i].sh_link, ", expected ",
                                        symbol_table_));
      }
      absl::string_view data = file_.sections[i].data;
      for (size_t offset = 0; offset + sizeof(Elf64_Rela) <= data.size(); offset += sizeof(Elf64_Rela)) {
        Elf64_Rela raw;
        Read(data, offset, &raw);
        uint32_t symbol = ELF64_R_SYM(raw.r_info);
        if (symbol >= file_.symbols.size()) {
          return DamagedFile(absl::StrCat("relocation section ", i, " refers to symbol ", symbol, ", but the file has ",
                                          file_.symbols.size(), " symbols"));
        }
        uint32_t type = ELF64_R_TYPE(raw.r_info);
        file_.relocations.push_back({headers_[i].sh_info, raw.r_offset, type, symbol, raw.r_addend});
      }
    }
    return absl::OkStatus();
  }

  const absl::string_view bytes_;
  Elf64_Ehdr header_;
  std::vector<Elf64_Shdr> headers_;
  size_t symbol_table_ = 0;
  ObjectFile file_;
};

}  // namespace

void AppendObjectFile(const ObjectFile& file, ObjectFile* all) {
  const uint32_t sections = all->sections.size();
  const uint32_t symbols = all->symbols.size();
  all->sections.insert(all->sections.end(), file.sections.begin(), file.sections.end());
  for (ObjectFile::Symbol symbol : file.symbols) {
    if (symbol.section != SHN_UNDEF && symbol.section != ObjectFile::kAbsolute) symbol.section += sections;
    all->symbols.push_back(symbol);
  }
  for (ObjectFile::Relocation relocation : file.relocations) {
    relocation.section += sections;
    relocation.symbol += symbols;
    all->relocations.push_back(relocation);
  }
}

absl::StatusOr<ObjectFile> ParseObjectFile(absl::string_view bytes) { return Parser(bytes).Parse(); }

}  // namespace hpu::emulator
