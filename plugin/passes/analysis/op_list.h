// Lists of the ops that a device supports, generated from plugin/op_lists.
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
  const char* source;  // where the verdict is said; empty if nowhere
  int max_rank;        // 0: no limit
  absl::Span<const TypeRule> types;
};

struct OpListData {
  const char* name;
  bool accepts_all;  // accepts every op and type; the other fields are empty
  uint64_t types;    // union of the types of all entries
  absl::Span<const char* const> index_attributes;
  uint64_t index_types;
  absl::Span<const OpEntry> entries;  // sorted by op
};

// All op lists, sorted by name, in static memory.
absl::Span<const OpListData> OpLists();

// The op list with this name; null if there is none.
const OpListData* FindOpList(std::string_view name);

// The entry of an op; null if the list does not contain the op.
const OpEntry* FindEntry(const OpListData& list, std::string_view op);

// Whether a type attribute is for indices, shapes or similar values.
bool IsIndexAttribute(const OpListData& list, std::string_view attribute);

inline bool HasType(uint64_t types, tensorflow::DataType type) { return type < 64 && (types >> type & 1) != 0; }

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_OP_LIST_H_
