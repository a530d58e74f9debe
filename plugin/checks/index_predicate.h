// Index rules in HLO.
#ifndef HPU_PLUGIN_CHECKS_INDEX_PREDICATE_H_
#define HPU_PLUGIN_CHECKS_INDEX_PREDICATE_H_

#include "plugin/checks/index_rule.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu::checks {

// A predicate that is true where CheckIndices returns OK. `sizes`: those of CheckIndices, a vector of int32 or a
// scalar. Errors of the builder are in the result.
xla::XlaOp IndicesInRange(const IndexRule& rule, xla::XlaOp indices, xla::XlaOp sizes);

}  // namespace hpu::checks

#endif  // HPU_PLUGIN_CHECKS_INDEX_PREDICATE_H_
