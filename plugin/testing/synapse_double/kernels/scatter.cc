// Scatters. Indices outside their range are errors.
//
// Operands and params of scatter_nd_fwd, scatter_nd_onnx_fwd and unsorted_scatter_add_fwd are only partly known: they
// take (X, indices, updates), as ONNX's and PyTorch's ops do.
#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/testing/synapse_double/kernels/elementwise.h"
#include "plugin/testing/synapse_double/kernels/families.h"
#include "plugin/testing/synapse_double/kernels/indices.h"

namespace hpu::synapse_double {
namespace {

constexpr int64_t kAnyIndex = std::numeric_limits<int64_t>::max();

// The order in which a kernel applies updates 0 to `count` - 1. A card adds in any order unless the node is
// deterministic.
std::vector<int64_t> UpdateOrder(const KernelContext& context, int64_t count) {
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  const uint64_t seed = context.switches().order;
  if (seed != 0) std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
  return order;
}

// Slices of the operand, one for each index row. starts[r]: the first element of the slice of row r.
struct Slices {
  std::vector<int64_t> starts;
  int64_t length;  // elements of a slice
};

// Indices are {depth, …}: entry 0 is an index of the slowest dimension of X. A slice has the dimensions without an
// entry.
bool ReadSlices(KernelContext* context, Slices* slices) {
  const Sizes& x = context->input(0).sizes;
  const Sizes& index_sizes = context->input(1).sizes;
  const auto depth = static_cast<size_t>(SizeOf(index_sizes, 0));
  if (!context->Require(depth >= 1 && depth <= x.size(), "indices ", TextOf(index_sizes), ": the operand is ",
                        TextOf(x))) {
    return false;
  }
  Sizes updates(x.begin(), x.end() - depth);
  slices->length = ElementCount(updates);
  if (!index_sizes.empty()) updates.insert(updates.end(), index_sizes.begin() + 1, index_sizes.end());
  if (updates.empty()) updates = {1};
  if (!context->RequireSizes(context->input(2), updates, "input 2")) return false;
  if (!context->RequireSizes(context->output(0), x, "output 0")) return false;
  DenseArray<int64_t> indices({});
  if (!LoadIndices(context, 1, kAnyIndex, &indices)) return false;
  const Sizes strides = DenseStrides(x);
  for (int64_t row = 0; row < indices.count() / static_cast<int64_t>(depth); ++row) {
    int64_t start = 0;
    for (size_t entry = 0; entry < depth; ++entry) {
      const size_t dimension = x.size() - 1 - entry;
      const int64_t index = indices[row * static_cast<int64_t>(depth) + static_cast<int64_t>(entry)];
      if (!RequireIndex(context, index, x[dimension])) return false;
      start += index * strides[dimension];
    }
    slices->starts.push_back(start);
  }
  return true;
}

// Replaces each updated element of a copy of X by update(element, element of the updates).
template <typename Update>
void Scatter(KernelContext& context, const Slices& slices, const Update& update) {
  WithComputeType(context.output(0).type, [&](auto zero) {
    using T = decltype(zero);
    DenseArray<T> y = Load<T>(context.input(0));
    const DenseArray<T> updates = Load<T>(context.input(2));
    for (const int64_t row : UpdateOrder(context, static_cast<int64_t>(slices.starts.size()))) {
      for (int64_t i = 0; i < slices.length; ++i) {
        T& element = y[slices.starts[row] + i];
        element = update(element, updates[row * slices.length + i]);
      }
    }
    Store(y, context.output(0));
  });
}

// Replaces slices. Of updates with equal indices, the last one in the order of updates wins.
void ScatterSet(KernelContext& context) {
  Slices slices;
  if (!ReadSlices(&context, &slices)) return;
  Scatter(context, slices, [](auto, auto update) { return update; });
}

// Adds to slices. The indices must be sorted.
void ScatterAdd(KernelContext& context) {
  const auto params = context.params<synapse::ns_ScatterNDKernel::Params>();
  const Sizes& index_sizes = context.input(1).sizes;
  bool agree = params.origIndicesDims == static_cast<int64_t>(index_sizes.size());
  for (size_t d = 0; agree && d < index_sizes.size(); ++d) agree = params.origIndicesShape[d] == index_sizes[d];
  if (!context.Require(agree, "origIndicesShape is not that of the indices, ", TextOf(index_sizes))) return;
  Slices slices;
  if (!ReadSlices(&context, &slices)) return;
  for (size_t row = 1; row < slices.starts.size(); ++row) {
    if (!context.Require(slices.starts[row - 1] <= slices.starts[row], "input 1: row ", row, " is not sorted")) return;
  }
  Scatter(context, slices, [](auto old, auto update) { return AddWrapped(old, update); });
}

// X, indices, updates; the index replaces the coordinate of the axis. Indices of rank 1 name whole slices.
void UnsortedScatterAdd(KernelContext& context) {
  const int axis = context.params<synapse::ns_GatherKernel::Params>().axis;
  const Sizes& x = context.input(0).sizes;
  const Sizes& updates = context.input(2).sizes;
  if (!context.Require(axis >= 0 && axis < static_cast<int64_t>(x.size()), "axis ", axis, " is out of range for rank ",
                       x.size())) {
    return;
  }
  const bool has_rows = context.input(1).rank() == 1;
  Sizes expected = x;
  if (updates.size() == x.size()) expected[axis] = updates[axis];
  if (!context.Require(updates.size() == x.size() && (!has_rows || updates == expected), "updates ", TextOf(updates),
                       ": the operand is ", TextOf(x))) {
    return;
  }
  for (size_t d = 0; d < x.size(); ++d) {
    if (!context.Require(d == static_cast<size_t>(axis) || updates[d] <= x[d], "updates ", TextOf(updates),
                         ": the operand is ", TextOf(x))) {
      return;
    }
  }
  if (!context.RequireSizes(context.input(1), has_rows ? Sizes{updates[axis]} : updates, "input 1")) return;
  DenseArray<int64_t> indices({});
  if (!LoadIndices(&context, 1, x[axis], &indices) || !context.RequireSizes(context.output(0), x, "output 0")) return;
  WithComputeType(context.output(0).type, [&](auto zero) {
    using T = decltype(zero);
    DenseArray<T> y = Load<T>(context.input(0));
    const DenseArray<T> values = Load<T>(context.input(2));
    std::vector<Sizes> targets;
    Sizes index(updates.size());
    for (int64_t i = 0; i < values.count(); ++i) {
      targets.push_back(index);
      targets.back()[axis] = indices[has_rows ? index[axis] : i];
      NextIndex(updates, &index);
    }
    for (const int64_t i : UpdateOrder(context, values.count())) {
      y.at(targets[i]) = AddWrapped(y.at(targets[i]), values[i]);
    }
    Store(y, context.output(0));
  });
}

// data, ids -> sums. The ids have the slowest dimensions of the data.
void UnsortedSegmentSum(KernelContext& context) {
  const int segments = context.params<synapse::ns_UnsortedSegmentSum::Params>().numSegments;
  const Sizes& data = context.input(0).sizes;
  const Sizes& ids = context.input(1).sizes;
  if (!context.Require(segments > 0 && ids.size() <= data.size(), "numSegments ", segments, ", ids ", TextOf(ids),
                       ", data ", TextOf(data))) {
    return;
  }
  Sizes sizes(data.begin(), data.end() - ids.size());
  const int64_t length = ElementCount(sizes);
  Sizes data_sizes = sizes;
  data_sizes.insert(data_sizes.end(), ids.begin(), ids.end());
  sizes.push_back(segments);
  DenseArray<int64_t> indices({});
  if (!context.RequireSizes(context.input(0), data_sizes, "input 0")) return;
  if (!context.RequireSizes(context.output(0), sizes, "output 0")) return;
  if (!LoadIndices(&context, 1, segments, &indices)) return;
  WithComputeType(context.output(0).type, [&](auto zero) {
    using T = decltype(zero);
    const DenseArray<T> x = Load<T>(context.input(0));
    DenseArray<T> y(sizes);
    for (const int64_t i : UpdateOrder(context, x.count())) {
      T& sum = y[indices[i / length] * length + i % length];
      sum = AddWrapped(sum, x[i]);
    }
    Store(y, context.output(0));
  });
}

}  // namespace

void AddScatters(KernelRegistry* registry) {
  registry->Add(
      {"scatter_nd_fwd", Suffix::kType, {3, 3}, {1, 1}, {sizeof(synapse::ns_ScatterNDKernel::Params)}, ScatterAdd});
  registry->Add({"scatter_nd_onnx_fwd", Suffix::kType, {3, 3}, {1, 1}, {0}, ScatterSet});
  registry->Add({"unsorted_scatter_add_fwd",
                 Suffix::kType,
                 {3, 3},
                 {1, 1},
                 {sizeof(synapse::ns_GatherKernel::Params)},
                 UnsortedScatterAdd});
  registry->Add({"unsorted_segment_sum_fwd",
                 Suffix::kType,
                 {2, 2},
                 {1, 1},
                 {sizeof(synapse::ns_UnsortedSegmentSum::Params)},
                 UnsortedSegmentSum});
}

}  // namespace hpu::synapse_double
