// Rules for the indices of ops: which indices an op's CPU kernel accepts, and the error it raises for others.
#ifndef HPU_PLUGIN_CHECKS_INDEX_RULE_H_
#define HPU_PLUGIN_CHECKS_INDEX_RULE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "plugin/op_facts/op_facts.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/tensor.h"

namespace hpu::checks {

using IndexKind = IndexedOp::Kind;

struct IndexRule {
  IndexKind kind = IndexKind::kIndex;
  int64_t axis = 0;               // the dimension that bounds the indices; negative: counted from the last
  int64_t added_to_negative = 0;  // what the program adds to negative indices before the op reads them
};

// The kind's name in the attribute "kind" of the ops that check indices.
const char* NameOf(IndexKind kind);

// The declaration of the attribute "kind".
std::string KindAttribute();

// The rule of an op. nullopt if the op's axis is an input, and `axis`, its value, is null or not one number.
std::optional<IndexRule> RuleOf(const IndexedOp& op, tensorflow::AttrSlice attributes, const tensorflow::Tensor* axis);

// The rule in the attributes "kind", "axis" and, if present, "added_to_negative".
absl::StatusOr<IndexRule> RuleIn(tensorflow::AttrSlice attributes);

// Whether indices of this dtype can be checked: int16, int32 and int64.
bool IsIndexType(tensorflow::DataType type);

// Whether the CPU kernel accepts indices of this type for a tensor of these sizes: it raises if int16 has too few
// numbers for them.
bool FitsIndexType(const IndexRule& rule, tensorflow::DataType type, absl::Span<const int64_t> sizes);

// Whether the op, rather than a check, reports indices of `dimensions` dimensions, the last with `last_size` elements:
// the axis is not a dimension, or an index has more components than there are sizes.
bool IsReportedByOp(const IndexRule& rule, int dimensions, int64_t last_size, int64_t sizes);

// The error of the op's CPU kernel if an index violates the rule. `sizes`: those of the tensor that the indices select
// from; of a segment operation the number of segments, then the sizes of a row; of slices the sizes of the tensor, then
// those of the slice. OK if the op itself reports the fault (IsReportedByOp). Requires IsIndexType(indices.dtype()) and
// indices in host memory.
absl::Status CheckIndices(const IndexRule& rule, const tensorflow::Tensor& indices, absl::Span<const int64_t> sizes);

}  // namespace hpu::checks

#endif  // HPU_PLUGIN_CHECKS_INDEX_RULE_H_
