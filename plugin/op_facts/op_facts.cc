#include "plugin/op_facts/op_facts.h"

#include "plugin/op_facts/op_facts_table.h"

namespace hpu {

const OpFacts& FactsOf(std::string_view op) {
  static const auto* table = new OpFactsTable(MakeOpFactsTable());
  static const auto* unlisted = new OpFacts;
  const auto found = table->find(op);
  return found == table->end() ? *unlisted : found->second;
}

}  // namespace hpu
