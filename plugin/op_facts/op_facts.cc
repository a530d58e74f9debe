#include "plugin/op_facts/op_facts.h"

#include <algorithm>

#include "plugin/op_facts/op_facts_table.h"

namespace hpu {

namespace {

const OpFactsTable& Table() {
  static const auto* table = new OpFactsTable(MakeOpFactsTable());
  return *table;
}

}  // namespace

const OpFacts& FactsOf(std::string_view op) {
  static const auto* unlisted = new OpFacts;
  const auto found = Table().find(op);
  return found == Table().end() ? *unlisted : found->second;
}

std::vector<std::string_view> OpsWith(bool OpFacts::*fact) {
  std::vector<std::string_view> ops;
  for (const auto& [op, facts] : Table()) {
    if (facts.*fact) ops.push_back(op);
  }
  return ops;
}

std::vector<std::string_view> ListedOps() {
  std::vector<std::string_view> ops;
  for (const auto& [op, facts] : Table()) ops.push_back(op);
  std::sort(ops.begin(), ops.end());
  return ops;
}

}  // namespace hpu
