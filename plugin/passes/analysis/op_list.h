// What is known of the ops that a device takes: the lists in plugin/op_lists, as a table made at build.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_OP_LIST_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_OP_LIST_H_

#include <cstdint>
#include <string_view>

#include "absl/types/span.h"
#include "tensorflow/core/framework/types.pb.h"

namespace hpu::passes {

enum class Verdict { kDocumented, kInferred, kUnknown };

// Types that an attribute may have, one bit for each DataType.
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
  bool takes_all;  // refuses nothing; the rest is empty
  uint64_t types;  // outer bound of all entries' types
  absl::Span<const char* const> index_attributes;
  uint64_t index_types;
  absl::Span<const OpEntry> entries;  // sorted by op
};

// All lists, by name. The data is constant and lives as long as the library.
absl::Span<const OpListData> OpLists();

// The list of that name, null if there is none.
const OpListData* FindOpList(std::string_view name);

// What a list says of an op; null if nothing.
const OpEntry* FindEntry(const OpListData& list, std::string_view op);

// Whether an attribute holds the type of indices, shapes or the like.
bool IsIndexAttribute(const OpListData& list, std::string_view attribute);

inline bool HasType(uint64_t types, tensorflow::DataType type) { return type < 64 && (types >> type & 1) != 0; }

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_OP_LIST_H_
