// Op lists of devices: the lists in plugin/op_lists, as a table that the build generates.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_OP_LIST_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_OP_LIST_H_

#include <cstdint>
#include <string_view>

#include "absl/types/span.h"
#include "tensorflow/core/framework/types.pb.h"

namespace hpu::passes {

enum class Verdict { kDocumented, kInferred, kUnknown };

// Types that an attribute may have, one bit per DataType.
struct TypeRule {
  const char* attribute;
  uint64_t types;
};

struct OpEntry {
  const char* op;
  Verdict verdict;
  const char* source;
  int max_rank;  // 0: no bound
  absl::Span<const TypeRule> types;
};

struct OpListData {
  const char* name;
  bool takes_all;  // refuses nothing; the other fields are empty
  uint64_t types;  // union of the types of all entries
  absl::Span<const char* const> index_attributes;
  uint64_t index_types;
  absl::Span<const OpEntry> entries;  // sorted by op
};

// All lists, by name. The data is static and constant.
absl::Span<const OpListData> OpLists();

// The list of that name, null if there is none.
const OpListData* FindOpList(std::string_view name);

// The entry of an op; null if the list does not contain the op.
const OpEntry* FindEntry(const OpListData& list, std::string_view op);

// Whether the attribute holds a type of indices, shapes or the like.
bool IsIndexAttribute(const OpListData& list, std::string_view attribute);

inline bool HasType(uint64_t types, tensorflow::DataType type) { return type < 64 && (types >> type & 1) != 0; }

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_OP_LIST_H_
