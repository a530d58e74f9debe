#include "plugin/backends/gaudi/lowerings/index_vectors.h"

#include <vector>

#include "plugin/backends/gaudi/lowerings/indexing.h"
#include "plugin/backends/gaudi/plan/nodes.h"
#include "plugin/base/status_macros.h"

namespace hpu::gaudi {

absl::StatusOr<TensorId> IndexEntry(Lowering& lowering, const xla::HloInstruction* indices, int64_t vector_dimension,
                                    int64_t entry) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(TensorId x, lowering.Value(indices));
  if (vector_dimension < indices->shape().dimensions_size()) {
    std::vector<uint64_t> starts(builder.sizes(x).size(), 0);
    std::vector<uint64_t> ends = builder.sizes(x);
    const auto axis = static_cast<size_t>(indices->shape().dimensions_size() - 1 - vector_dimension);
    starts[axis] = entry;
    ends[axis] = entry + 1;
    HPU_ASSIGN_OR_RETURN(x, Slice(builder, x, starts, ends, std::vector<uint64_t>(starts.size(), 1)));
  }
  HPU_ASSIGN_OR_RETURN(x, Reshape(builder, x, {1, ElementCount(builder.sizes(x))}));
  return ToIndex(builder, x, indices->shape().element_type());
}

}  // namespace hpu::gaudi
