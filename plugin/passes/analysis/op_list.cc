#include "plugin/passes/analysis/op_list.h"

#include <algorithm>

namespace hpu::passes {

const OpListData* FindOpList(std::string_view name) {
  for (const OpListData& list : OpLists()) {
    if (list.name == name) return &list;
  }
  return nullptr;
}

const OpEntry* FindEntry(const OpListData& list, std::string_view op) {
  const auto found =
      std::lower_bound(list.entries.begin(), list.entries.end(), op,
                       [](const OpEntry& entry, std::string_view name) { return std::string_view(entry.op) < name; });
  return found != list.entries.end() && found->op == op ? &*found : nullptr;
}

bool IsIndexAttribute(const OpListData& list, std::string_view attribute) {
  return std::any_of(list.index_attributes.begin(), list.index_attributes.end(),
                     [&](const char* name) { return attribute == name; });
}

}  // namespace hpu::passes
