// Table of SynapseAI's guids: operands, results, types, ranks and params of each, from
// plugin/backends/gaudi/guids.yaml.
//
// Plain C++ without Abseil, because the test double also uses the table. docs/developer/gaudi_guids.md shows the rows.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_GUIDS_GUID_TABLE_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_GUIDS_GUID_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/backends/gaudi/synapse/generation.h"
#include "plugin/backends/gaudi/synapse/profile_enum.h"
#include "plugin/backends/gaudi/synapse/types.h"

namespace hpu::gaudi {

// A constant array.
template <typename T>
struct GuidList {
  const T* data = nullptr;
  size_t count = 0;

  const T* begin() const { return data; }
  const T* end() const { return data + count; }
  size_t size() const { return count; }
  const T& operator[](size_t index) const { return data[index]; }
};

// Types are bits of synDataType. These bits stand for types that depend on the node.
using TypeMask = uint32_t;
inline constexpr TypeMask kGuidType = TypeMask{1} << 31;     // the guid's type
inline constexpr TypeMask kCastSource = TypeMask{1} << 30;   // the source type of a cast
inline constexpr TypeMask kAnyGuidType = TypeMask{1} << 29;  // any type that the guid supports
inline constexpr TypeMask kAllTypes = (TypeMask{1} << 18) - 1;

enum class GuidKind {
  kGraphCompiler,  // computed or rewritten by the graph compiler
  kTpc,            // a kernel of the TPC library
  kInternal,       // graphs must not contain it
};

enum class GuidSuffix {
  kNone,
  kType,  // add_fwd_f32
  kCast,  // cast_f32_to_i32
};

enum class Presence {
  kRequired,
  kOptional,  // may be null
  kVariadic,  // one or more
};

struct GuidOperand {
  std::string_view name;
  Presence presence;
  TypeMask types;
  bool is_shape;  // a shape tensor, which has no type
};

// A version of a guid's params. The size of the params selects the version.
struct ParamsVersion {
  uint32_t size;                 // in bytes; 0: no params
  std::string_view struct_name;  // in synapse/params.h; "?" if unknown, empty for size 0
  synapse::Profile first;        // oldest profile that has the version

  bool IsIn(synapse::Profile profile) const { return first <= profile; }
};

struct Guid {
  std::string_view stem;  // the name without its suffix
  GuidKind kind;
  GuidSuffix suffix;
  GuidList<GuidOperand> operands;
  GuidList<GuidOperand> results;
  TypeMask types[3];        // by Generation
  TypeMask recorded_types;  // seen in graphs of the product
  int min_rank;             // of the first operand, or of the result where there is no operand
  int max_rank;
  GuidList<ParamsVersion> params;
  bool may_be_complex;       // a graph of other nodes, from a library that may be absent
  bool is_proven;            // a source states more than its name, and operands, types and params are known
  std::string_view sources;  // letters of guids.yaml, such as "R B"

  bool Supports(synapse::Generation generation, synapse::synDataType type) const {
    return (types[static_cast<size_t>(generation)] & type) != 0;
  }
  // Whether the profile has params of this size. True for all sizes where the params are unknown.
  bool HasParamsOf(synapse::Profile profile, size_t size) const;
};

// The guid and the types that a name stands for.
struct GuidMatch {
  const Guid* guid = nullptr;
  synapse::synDataType type = synapse::syn_type_na;         // of the suffix; syn_type_na without a suffix
  synapse::synDataType source_type = synapse::syn_type_na;  // of casts
};

// Resolves a guid's name, such as "gemm", "add_fwd_f32" or "cast_f32_to_i32". nullopt if the table lacks the guid, or
// if no generation supports its type.
std::optional<GuidMatch> FindGuid(std::string_view name);

// The name of a guid for a type: inverse of FindGuid. The types of guids without a suffix are ignored.
std::string GuidName(const Guid& guid, synapse::synDataType type,
                     synapse::synDataType source_type = synapse::syn_type_na);

// Types that the operand may have in a node of the resolved guid. `guid_type` is the type of the suffix, or for guids
// without a suffix the type of the first operand.
TypeMask OperandTypes(const GuidMatch& match, const GuidOperand& operand, synapse::Generation generation,
                      synapse::synDataType guid_type);

// "f32"; empty for types that no guid has.
std::string_view TypeSuffix(synapse::synDataType type);
// Inverse of TypeSuffix; syn_type_na for other text.
synapse::synDataType TypeOfSuffix(std::string_view suffix);

// A conversion that needs an intermediate type.
struct IndirectCast {
  synapse::Generation generation;
  TypeMask source;
  TypeMask destination;
  TypeMask via;
};

// Types after each step of a conversion, which ends with `destination`: {i32, i16} for f32 to i16 on Gaudi. Empty if
// the generation does not convert one of the types, or if the types are equal.
std::vector<synapse::synDataType> CastPath(synapse::Generation generation, synapse::synDataType source,
                                           synapse::synDataType destination);

// All rows. Two rows share a stem only if one of them has no suffix.
GuidList<Guid> AllGuids();
GuidList<IndirectCast> IndirectCasts();

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_GUIDS_GUID_TABLE_H_
