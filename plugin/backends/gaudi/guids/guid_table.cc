#include "plugin/backends/gaudi/guids/guid_table.h"

#include <unordered_map>
#include <utility>

namespace hpu::gaudi {
namespace {

using synapse::syn_type_na;
using synapse::synDataType;

constexpr std::pair<std::string_view, synDataType> kSuffixes[] = {
    {"f32", synapse::syn_type_single}, {"bf16", synapse::syn_type_bf16},  {"f16", synapse::syn_type_fp16},
    {"i64", synapse::syn_type_int64},  {"i32", synapse::syn_type_int32},  {"i16", synapse::syn_type_int16},
    {"i8", synapse::syn_type_int8},    {"u64", synapse::syn_type_uint64}, {"u32", synapse::syn_type_uint32},
    {"u16", synapse::syn_type_uint16}, {"u8", synapse::syn_type_uint8},
};

using GuidsByStem = std::unordered_map<std::string_view, const Guid*>;

// Guids with or without a suffix, by stem.
const GuidsByStem& ByStem(bool with_suffix) {
  static const auto* tables = [] {
    auto* tables = new GuidsByStem[2];
    for (const Guid& guid : AllGuids()) tables[guid.suffix != GuidSuffix::kNone].emplace(guid.stem, &guid);
    return tables;
  }();
  return tables[with_suffix];
}

const Guid* FindStem(std::string_view stem, GuidSuffix suffix) {
  const GuidsByStem& table = ByStem(suffix != GuidSuffix::kNone);
  const auto found = table.find(stem);
  return found != table.end() && found->second->suffix == suffix ? found->second : nullptr;
}

bool AnyGenerationSupports(const Guid& guid, synDataType type) {
  return ((guid.types[0] | guid.types[1] | guid.types[2]) & type) != 0;
}

// Splits "cast_f32" at its last underscore, and resolves the type after it.
std::optional<std::pair<std::string_view, synDataType>> SplitSuffix(std::string_view name) {
  const size_t split = name.rfind('_');
  if (split == std::string_view::npos) return std::nullopt;
  const synDataType type = TypeOfSuffix(name.substr(split + 1));
  if (type == syn_type_na) return std::nullopt;
  return std::pair(name.substr(0, split), type);
}

}  // namespace

bool Guid::HasParamsOf(synapse::Profile profile, size_t size) const {
  for (const ParamsVersion& version : params) {
    if (version.size == size && version.IsIn(profile)) return true;
  }
  return params.size() == 0;
}

std::optional<GuidMatch> FindGuid(std::string_view name) {
  if (const Guid* guid = FindStem(name, GuidSuffix::kNone)) return GuidMatch{guid};
  const auto last = SplitSuffix(name);
  if (!last) return std::nullopt;
  const auto& [stem, type] = *last;
  if (const Guid* guid = FindStem(stem, GuidSuffix::kType)) {
    return AnyGenerationSupports(*guid, type) ? std::optional(GuidMatch{guid, type}) : std::nullopt;
  }
  constexpr std::string_view kTo = "_to";
  if (stem.size() <= kTo.size() || stem.substr(stem.size() - kTo.size()) != kTo) return std::nullopt;
  const auto first = SplitSuffix(stem.substr(0, stem.size() - kTo.size()));
  if (!first) return std::nullopt;
  const Guid* guid = FindStem(first->first, GuidSuffix::kCast);
  if (guid == nullptr || !AnyGenerationSupports(*guid, type) || !AnyGenerationSupports(*guid, first->second)) {
    return std::nullopt;
  }
  return GuidMatch{guid, type, first->second};
}

std::string GuidName(const Guid& guid, synDataType type, synDataType source_type) {
  std::string name(guid.stem);
  if (guid.suffix == GuidSuffix::kCast) name.append("_").append(TypeSuffix(source_type)).append("_to");
  if (guid.suffix != GuidSuffix::kNone) name.append("_").append(TypeSuffix(type));
  return name;
}

TypeMask OperandTypes(const GuidMatch& match, const GuidOperand& operand, synapse::Generation generation,
                      synDataType guid_type) {
  TypeMask types = operand.types & kAllTypes;
  // Gaudi computes int64 as int32. Only nodes that move or convert data take int64; their types depend on the node.
  if (generation == synapse::Generation::kGaudi) types &= ~TypeMask{synapse::syn_type_int64};
  if (operand.types & kGuidType) types |= guid_type;
  if (operand.types & kCastSource) types |= match.source_type;
  if (operand.types & kAnyGuidType) types |= match.guid->types[static_cast<size_t>(generation)];
  return types;
}

std::string_view TypeSuffix(synDataType type) {
  for (const auto& [suffix, known] : kSuffixes) {
    if (known == type) return suffix;
  }
  return {};
}

synDataType TypeOfSuffix(std::string_view suffix) {
  for (const auto& [known, type] : kSuffixes) {
    if (known == suffix) return type;
  }
  return syn_type_na;
}

std::vector<synDataType> CastPath(synapse::Generation generation, synDataType source, synDataType destination) {
  const Guid* cast = FindStem("cast", GuidSuffix::kCast);
  if (source == destination || !cast->Supports(generation, source) || !cast->Supports(generation, destination)) {
    return {};
  }
  for (const IndirectCast& indirect : IndirectCasts()) {
    if (indirect.generation != generation || indirect.source != source || indirect.destination != destination) continue;
    const auto via = static_cast<synDataType>(indirect.via);
    std::vector<synDataType> path = CastPath(generation, source, via);
    for (const synDataType type : CastPath(generation, via, destination)) path.push_back(type);
    return path;
  }
  return {destination};
}

}  // namespace hpu::gaudi
