// Table of OpFacts by op name, generated from plugin/op_facts.yaml by tools/generate_op_facts.py.
#ifndef HPU_PLUGIN_OP_FACTS_OP_FACTS_TABLE_H_
#define HPU_PLUGIN_OP_FACTS_OP_FACTS_TABLE_H_

#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "plugin/op_facts/op_facts.h"

namespace hpu {

using OpFactsTable = absl::flat_hash_map<std::string_view, OpFacts>;

OpFactsTable MakeOpFactsTable();

}  // namespace hpu

#endif  // HPU_PLUGIN_OP_FACTS_OP_FACTS_TABLE_H_
