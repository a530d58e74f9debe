#include "plugin/backends/emulator/codegen/recipe_format.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "tsl/lib/hash/crc32c.h"

namespace hpu::emulator {
namespace {

constexpr absl::string_view kMagic = "HPURECP\n";
constexpr uint32_t kVersion = 4;
// Magic, version, and checksum of the rest.
constexpr size_t kHeaderBytes = 8 + 4 + 4;
// Limits the allocation if the count is damaged.
constexpr uint32_t kMaxCounters = 1 << 24;
// Prevents overflow in sums of workspaces.
constexpr uint64_t kMaxWorkspace = uint64_t{1} << 60;

absl::Status DamagedRecipe(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("serialised recipe is damaged: ", what, "; recompile it"));
}

// Appends fixed-width little-endian values (the backend supports x86-64 only) to `bytes`, or only counts their bytes.
class Writer {
 public:
  explicit Writer(std::string* bytes) : bytes_(bytes) {}

  template <typename T>
  void Put(T value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    Append({reinterpret_cast<const char*>(&value), sizeof(T)});
  }
  void PutString(absl::string_view value) {
    Put<uint64_t>(value.size());
    Append(value);
  }
  void PutSpec(const hal::TensorSpec& spec) {
    Put(spec.dtype);
    Put<uint32_t>(spec.dims.size());
    for (int64_t dim : spec.dims) Put(dim);
  }
  void PutTable(const ProgramTable& table) {
    Put<uint32_t>(table.arguments.size());
    for (const hal::TensorSpec& argument : table.arguments) PutSpec(argument);
    Put<uint32_t>(table.results.size());
    for (const hal::ResultSpec& result : table.results) {
      PutSpec(result.spec);
      Put<int32_t>(result.aliased_argument);
    }
  }
  void PutCode(const CodeParts& code) {
    Put<uint32_t>(code.slots.size());
    for (const BufferSlot& slot : code.slots) {
      Put(slot.source);
      Put(slot.value);
      Put(slot.bytes);
    }
    Put(code.workspace_bytes);
    PutString(code.object);
  }
  void PutProfile(const RecipeProfile& profile) {
    Put(profile.counters);
    Put<uint32_t>(profile.instructions.size());
    for (const ProfiledInstruction& instruction : profile.instructions) {
      PutString(instruction.names.instruction);
      PutString(instruction.names.kind);
      PutString(instruction.names.op);
      PutString(instruction.names.op_type);
      Put(instruction.counter);
      Put<uint32_t>(instruction.inner.size());
      for (uint32_t counter : instruction.inner) Put(counter);
    }
  }
  uint64_t size() const { return size_; }

 private:
  void Append(absl::string_view bytes) {
    size_ += bytes.size();
    if (bytes_ != nullptr) bytes_->append(bytes.data(), bytes.size());
  }

  std::string* const bytes_;  // null: only counts
  uint64_t size_ = 0;
};

// Every read is checked; after a failed read, all reads fail.
class Reader {
 public:
  explicit Reader(absl::string_view bytes) : rest_(bytes) {}

  template <typename T>
  T Get() {
    T value{};
    if (!Has(sizeof(T))) return value;
    std::memcpy(&value, rest_.data(), sizeof(T));
    rest_.remove_prefix(sizeof(T));
    return value;
  }
  absl::string_view GetString() {
    uint64_t size = Get<uint64_t>();
    if (!Has(size)) return {};
    absl::string_view value = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return value;
  }
  // Reads a count of elements that take at least `bytes_each` bytes each. Fails if fewer bytes are left, which limits
  // the allocation if the count is damaged.
  uint32_t GetCount(size_t bytes_each) {
    uint32_t count = Get<uint32_t>();
    return Has(uint64_t{count} * bytes_each) ? count : 0;
  }
  hal::TensorSpec GetSpec() {
    hal::TensorSpec spec;
    spec.dtype = Get<hal::DataType>();
    spec.bytes = hal::SizeOf(spec.dtype);
    if (spec.bytes == 0) ok_ = false;
    for (uint32_t n = GetCount(sizeof(int64_t)); n > 0; --n) {
      spec.dims.push_back(Get<int64_t>());
      if (spec.dims.back() < 0 ||
          __builtin_mul_overflow(spec.bytes, static_cast<uint64_t>(spec.dims.back()), &spec.bytes)) {
        ok_ = false;
      }
    }
    return spec;
  }
  ProgramTable GetTable() {
    ProgramTable table;
    for (uint32_t n = GetCount(5); n > 0; --n) table.arguments.push_back(GetSpec());
    for (uint32_t n = GetCount(9); n > 0; --n) {
      hal::TensorSpec spec = GetSpec();
      table.results.push_back({std::move(spec), Get<int32_t>()});
    }
    return table;
  }
  CodeParts GetCode() {
    CodeParts code;
    for (uint32_t n = GetCount(17); n > 0; --n) {
      BufferSlot slot;
      slot.source = Get<BufferSlot::Source>();
      slot.value = Get<uint64_t>();
      slot.bytes = Get<uint64_t>();
      code.slots.push_back(slot);
    }
    code.workspace_bytes = Get<uint64_t>();
    code.object = std::string(GetString());
    return code;
  }
  RecipeProfile GetProfile() {
    RecipeProfile profile;
    profile.counters = Get<uint32_t>();
    for (uint32_t n = GetCount(40); n > 0; --n) {
      ProfiledInstruction& instruction = profile.instructions.emplace_back();
      for (std::string* text : {&instruction.names.instruction, &instruction.names.kind, &instruction.names.op,
                                &instruction.names.op_type}) {
        *text = std::string(GetString());
      }
      instruction.counter = Get<uint32_t>();
      for (uint32_t m = GetCount(sizeof(uint32_t)); m > 0; --m) instruction.inner.push_back(Get<uint32_t>());
    }
    return profile;
  }
  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }

 private:
  bool Has(uint64_t bytes) {
    if (bytes > rest_.size()) ok_ = false;
    return ok_;
  }

  absl::string_view rest_;
  bool ok_ = true;
};

bool AliasesAreValid(const ProgramTable& table) {
  for (const hal::ResultSpec& result : table.results) {
    if (result.aliased_argument < -1) return false;
    if (result.aliased_argument < 0) continue;
    if (static_cast<size_t>(result.aliased_argument) >= table.arguments.size()) return false;
    if (table.arguments[result.aliased_argument].bytes != result.spec.bytes) return false;
  }
  return true;
}

bool SlotIsValid(const ProgramTable& table, const CodeParts& code, const BufferSlot& slot) {
  switch (slot.source) {
    case BufferSlot::Source::kNone:
      return true;
    case BufferSlot::Source::kArgument:
      return slot.value < table.arguments.size() && slot.bytes == table.arguments[slot.value].bytes;
    case BufferSlot::Source::kResult:
      return slot.value < table.results.size() && slot.bytes == table.results[slot.value].spec.bytes;
    case BufferSlot::Source::kWorkspace:
      return slot.value % kWorkspaceAlignment == 0 && slot.value <= code.workspace_bytes &&
             slot.bytes <= code.workspace_bytes - slot.value;
    case BufferSlot::Source::kResultTable:
      return slot.bytes == table.results.size() * sizeof(void*);
  }
  return false;
}

bool CountersExist(const RecipeProfile& profile) {
  const auto valid = [&profile](uint32_t counter) { return counter < profile.counters; };
  return std::all_of(
      profile.instructions.begin(), profile.instructions.end(), [&valid](const ProfiledInstruction& instruction) {
        return valid(instruction.counter) && std::all_of(instruction.inner.begin(), instruction.inner.end(), valid);
      });
}

absl::Status ValidateCode(const ProgramTable& table, const CodeParts& code) {
  if (!AliasesAreValid(table))
    return DamagedRecipe("a result aliases a missing argument, or an argument of another size");
  if (code.workspace_bytes > kMaxWorkspace)
    return DamagedRecipe(absl::StrCat("its workspace has ", code.workspace_bytes, " bytes, limit ", kMaxWorkspace));
  int tables = 0;
  for (const BufferSlot& slot : code.slots) {
    if (!SlotIsValid(table, code, slot)) {
      return DamagedRecipe(absl::StrCat("buffer slot ", &slot - code.slots.data(), ", ", slot.bytes,
                                        " bytes, does not match its argument, result, workspace or result table"));
    }
    if (slot.source == BufferSlot::Source::kResultTable) ++tables;
  }
  return tables == 1 ? absl::OkStatus() : DamagedRecipe(absl::StrCat("it has ", tables, " result tables, expected 1"));
}

absl::Status Validate(const RecipeParts& parts) {
  if (parts.profile.counters > kMaxCounters) {
    return DamagedRecipe(absl::StrCat("its profile has ", parts.profile.counters, " counters, limit ", kMaxCounters));
  }
  if (!CountersExist(parts.profile)) return DamagedRecipe("its profile refers to a missing counter");
  for (const FunctionParts& function : parts.functions) {
    HPU_RETURN_IF_ERROR(ValidateCode(function.table, function));
  }
  return ValidateCode(parts.table, parts);
}

absl::StatusOr<RecipeParts> ParseBody(Reader& reader) {
  RecipeParts parts;
  parts.table = reader.GetTable();
  static_cast<CodeParts&>(parts) = reader.GetCode();
  for (uint32_t n = reader.GetCount(12); n > 0; --n) {
    KernelSpec& kernel = parts.kernels.emplace_back();
    kernel.name = std::string(reader.GetString());
    for (uint32_t m = reader.GetCount(sizeof(int64_t)); m > 0; --m) kernel.parameters.push_back(reader.Get<int64_t>());
  }
  for (uint32_t n = reader.GetCount(28); n > 0; --n) {
    FunctionParts& function = parts.functions.emplace_back();
    function.table = reader.GetTable();
    static_cast<CodeParts&>(function) = reader.GetCode();
  }
  parts.profile = reader.GetProfile();
  if (!reader.ok() || !reader.at_end()) return DamagedRecipe("the tables do not match the length of the recipe");
  HPU_RETURN_IF_ERROR(Validate(parts));
  return parts;
}

void PutBody(const RecipeParts& parts, absl::string_view target, Writer& body) {
  body.PutString(target);
  body.PutTable(parts.table);
  body.PutCode(parts);
  body.Put<uint32_t>(parts.kernels.size());
  for (const KernelSpec& kernel : parts.kernels) {
    body.PutString(kernel.name);
    body.Put<uint32_t>(kernel.parameters.size());
    for (int64_t parameter : kernel.parameters) body.Put(parameter);
  }
  body.Put<uint32_t>(parts.functions.size());
  for (const FunctionParts& function : parts.functions) {
    body.PutTable(function.table);
    body.PutCode(function);
  }
  body.PutProfile(parts.profile);
}

}  // namespace

uint64_t SerializedSize(const RecipeParts& parts, absl::string_view target) {
  Writer counter(nullptr);
  PutBody(parts, target, counter);
  return kHeaderBytes + counter.size();
}

std::string SerializeParts(const RecipeParts& parts, absl::string_view target) {
  std::string bytes, header_bytes;
  Writer body(&bytes), header(&header_bytes);
  PutBody(parts, target, body);
  header.Put(kVersion);
  header.Put<uint32_t>(tsl::crc32c::Value(bytes.data(), bytes.size()));
  return absl::StrCat(kMagic, header_bytes, bytes);
}

absl::StatusOr<RecipeParts> ParseParts(absl::string_view bytes, absl::string_view target) {
  if (bytes.size() < kHeaderBytes || bytes.substr(0, kMagic.size()) != kMagic) {
    return absl::InvalidArgumentError(
        absl::StrCat("not a serialised recipe of the emulator (", bytes.size(), " bytes); recompile it"));
  }
  Reader header(bytes.substr(kMagic.size()));
  const uint32_t version = header.Get<uint32_t>();
  if (version != kVersion) {
    return absl::InvalidArgumentError(absl::StrCat("serialised recipe has format ", version,
                                                   "; this build reads format ", kVersion, "; recompile it"));
  }
  const uint32_t checksum = header.Get<uint32_t>();
  absl::string_view body = bytes.substr(kHeaderBytes);
  if (tsl::crc32c::Value(body.data(), body.size()) != checksum) return DamagedRecipe("its checksum is wrong");
  Reader reader(body);
  absl::string_view made_for = reader.GetString();
  if (reader.ok() && made_for != target) {
    return absl::FailedPreconditionError(
        absl::StrCat("serialised recipe was compiled for another target; recompile it. Recipe: ", made_for,
                     ". This process: ", target));
  }
  return ParseBody(reader);
}

}  // namespace hpu::emulator
