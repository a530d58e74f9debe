// Shapes of gathers, scatters, one-hot encodings and top-k.
#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/testing/synapse_double/graph/shapes/shape_check.h"

namespace hpu::synapse_double {
namespace {

// The dimensions of the indices replace the axis. The last batchDims dimensions of x and the indices are common.
void Gather(ShapeCheck& check) {
  const auto params = check.params<synapse::ns_GatherKernel::ParamsV2>();
  const Sizes& x = check.in(0);
  const Sizes& indices = check.in(1);
  if (!check.RequireAxis(params.axis, x.size())) return;
  const size_t batch = params.batchDims;
  if (!check.Require(params.batchDims >= 0 && batch <= indices.size() && params.axis + batch < x.size(), "batchDims ",
                     params.batchDims, " with ", TextOf(x), " and indices ", TextOf(indices))) {
    return;
  }
  if (!check.Require(std::equal(x.end() - batch, x.end(), indices.end() - batch), "batch dimensions of ", TextOf(x),
                     " and indices ", TextOf(indices), " differ")) {
    return;
  }
  Sizes result(x.begin(), x.begin() + params.axis);
  result.insert(result.end(), indices.begin(), indices.end() - batch);
  result.insert(result.end(), x.begin() + params.axis + 1, x.end());
  check.RequireOutput(0, result.empty() ? Sizes{1} : result);
}

void GatherElements(ShapeCheck& check) {
  const int axis = check.params<synapse::ns_GatherElementsKernel::Params>().axis;
  const Sizes& x = check.in(0);
  const Sizes& indices = check.in(1);
  if (!check.RequireAxis(axis, x.size())) return;
  bool agree = indices.size() == x.size();
  for (size_t d = 0; agree && d < x.size(); ++d) agree = static_cast<int>(d) == axis || indices[d] <= x[d];
  check.Require(agree, "indices ", TextOf(indices), " of ", TextOf(x), " along axis ", axis);
  check.RequireOutput(0, indices);
}

// x, indices {depth,…}, updates -> x
void ScatterNd(ShapeCheck& check) {
  const Sizes& x = check.in(0);
  const Sizes& indices = check.in(1);
  const int64_t depth = SizeOf(indices, 0);
  if (!check.Require(depth >= 1 && depth <= static_cast<int64_t>(x.size()), "indices ", TextOf(indices), " of ",
                     TextOf(x))) {
    return;
  }
  Sizes updates(x.begin(), x.end() - depth);
  updates.insert(updates.end(), indices.begin() + 1, indices.end());
  check.RequireInput(2, updates.empty() ? Sizes{1} : updates);
  check.RequireOutput(0, x);
}

// data, segments -> sums. The segments have the slowest dimensions of the data.
void SegmentSum(ShapeCheck& check) {
  const int count = check.params<synapse::ns_UnsortedSegmentSum::Params>().numSegments;
  const Sizes& data = check.in(0);
  const Sizes& segments = check.in(1);
  if (!check.Require(count > 0 && segments.size() <= data.size() &&
                         std::equal(segments.begin(), segments.end(), data.end() - segments.size()),
                     "numSegments ", count, ", segments ", TextOf(segments), " of ", TextOf(data))) {
    return;
  }
  Sizes result(data.begin(), data.end() - segments.size());
  result.push_back(count);
  check.RequireOutput(0, result);
}

void OneHot(ShapeCheck& check) {
  const auto params = check.params<synapse::ns_OneHotKernel::Params>();
  Sizes sizes = check.in(0);
  if (!check.RequireAxis(params.axis, sizes.size() + 1)) return;
  sizes.insert(sizes.begin() + params.axis, params.depth);
  check.RequireOutput(0, sizes);
}

// x -> values, indices
void TopK(ShapeCheck& check) {
  const auto params = check.params<synapse::ns_TopkNodeV2::ParamsV3>();
  Sizes sizes = check.in(0);
  if (!check.RequireAxis(params.axis, sizes.size())) return;
  if (!check.Require(params.bsw >= 1 && params.bsw <= sizes[params.axis], "bsw ", params.bsw, " along axis ",
                     params.axis, " of ", TextOf(sizes))) {
    return;
  }
  sizes[params.axis] = params.bsw;
  check.RequireOutput(0, sizes);
  check.RequireOutput(1, sizes);
}

}  // namespace

ShapeRules IndexingShapes() {
  return {{"gather_fwd", Gather},  {"gather_elements_fwd", GatherElements},
          {"one_hot_fwd", OneHot}, {"scatter_nd_onnx_fwd", ScatterNd},
          {"topk", TopK},          {"unsorted_segment_sum_fwd", SegmentSum}};
}

}  // namespace hpu::synapse_double
