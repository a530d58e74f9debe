// Gathers and one-hot encodings. Indices outside their range are errors, except those of one_hot.
#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/testing/synapse_double/kernels/box_copy.h"
#include "plugin/testing/synapse_double/kernels/families.h"
#include "plugin/testing/synapse_double/kernels/indices.h"

namespace hpu::synapse_double {
namespace {

bool RequireAxis(KernelContext* context, int axis, size_t rank) {
  return context->Require(axis >= 0 && axis < static_cast<int64_t>(rank), "axis ", axis, " is out of range for rank ",
                          rank);
}

// The result has, in place of the axis, the dimensions of the indices. The last batchDims dimensions are common to
// operand and indices.
void Gather(KernelContext& context) {
  const auto params = context.params<synapse::ns_GatherKernel::ParamsV2>();
  const TensorView& x = context.input(0);
  const TensorView& y = context.output(0);
  if (!RequireAxis(&context, params.axis, x.rank()) || !RequireSameType(&context, 0)) return;
  const auto axis = static_cast<size_t>(params.axis);
  const auto batch = static_cast<size_t>(params.batchDims);
  const Sizes& index_sizes = context.input(1).sizes;
  if (!context.Require(params.batchDims >= 0 && batch <= index_sizes.size() && axis + batch < x.rank(), "batchDims ",
                       params.batchDims, ": indices ", TextOf(index_sizes), ", axis ", axis, " of ", TextOf(x.sizes))) {
    return;
  }
  for (size_t d = 1; d <= batch; ++d) {
    if (!context.Require(index_sizes[index_sizes.size() - d] == x.sizes[x.rank() - d], "batch dimensions of ",
                         TextOf(x.sizes), " and ", TextOf(index_sizes), " differ")) {
      return;
    }
  }
  DenseArray<int64_t> indices({});
  if (!LoadIndices(&context, 1, x.sizes[axis], &indices)) return;
  // The result is {inner…, inserted index dimensions…, outer…}; blocks of the inner dimensions move at once.
  const Sizes inner(x.sizes.begin(), x.sizes.begin() + axis);
  const size_t inserted = index_sizes.size() - batch;
  Sizes outer(index_sizes.begin(), index_sizes.begin() + inserted);
  outer.insert(outer.end(), x.sizes.begin() + axis + 1, x.sizes.end());
  Sizes sizes = inner;
  sizes.insert(sizes.end(), outer.begin(), outer.end());
  if (!context.RequireSizes(y, sizes, "output 0") || ElementCount(sizes) == 0) return;
  const Sizes y_strides(y.strides.begin() + axis, y.strides.end());
  const Sizes x_strides(x.strides.begin() + axis, x.strides.end());
  Sizes position(outer.size());
  do {
    Sizes where(position.begin(), position.begin() + inserted);
    where.insert(where.end(), position.end() - batch, position.end());
    Sizes from = {indices.at(where)};
    from.insert(from.end(), position.begin() + inserted, position.end());
    CopyBox(x, {Dot(from, x_strides), x.strides}, y, {Dot(position, y_strides), y.strides}, inner);
  } while (NextIndex(outer, &position));
}

// The index replaces the coordinate of the axis. Other dimensions of the operand may be larger than the indices'.
void GatherElements(KernelContext& context) {
  const int axis = context.params<synapse::ns_GatherElementsKernel::Params>().axis;
  const TensorView& x = context.input(0);
  const TensorView& y = context.output(0);
  if (!RequireAxis(&context, axis, x.rank()) || !RequireSameType(&context, 0)) return;
  const Sizes& sizes = context.input(1).sizes;
  if (!context.Require(sizes.size() == x.rank(), "indices ", TextOf(sizes), ": the operand is ", TextOf(x.sizes))) {
    return;
  }
  for (size_t d = 0; d < x.rank(); ++d) {
    if (!context.Require(d == static_cast<size_t>(axis) || sizes[d] <= x.sizes[d], "indices ", TextOf(sizes),
                         ": the operand is ", TextOf(x.sizes))) {
      return;
    }
  }
  DenseArray<int64_t> indices({});
  if (!context.RequireSizes(y, sizes, "output 0") || !LoadIndices(&context, 1, x.sizes[axis], &indices)) return;
  if (indices.count() == 0) return;
  Sizes index(sizes.size());
  do {
    Sizes from = index;
    from[axis] = indices.at(index);
    CopyBox(x, {Dot(from, x.strides), {}}, y, {Dot(index, y.strides), {}}, {});
  } while (NextIndex(sizes, &index));
}

// An index outside the depth makes a row of off_value, as in TensorFlow.
void OneHot(KernelContext& context) {
  const auto params = context.params<synapse::ns_OneHotKernel::Params>();
  Sizes sizes = context.input(0).sizes;
  if (!RequireAxis(&context, params.axis, sizes.size() + 1)) return;
  if (!context.Require(!IsFloat(context.input(0).type), "input 0: expected integers")) return;
  sizes.insert(sizes.begin() + params.axis, params.depth);
  if (!context.RequireSizes(context.output(0), sizes, "output 0") || ElementCount(sizes) == 0) return;
  const DenseArray<int64_t> indices = Load<int64_t>(context.input(0));
  DenseArray<double> y(sizes);
  Sizes index(sizes.size());
  do {
    Sizes where = index;
    where.erase(where.begin() + params.axis);
    y.at(index) = indices.at(where) == index[params.axis] ? params.on_value : params.off_value;
  } while (NextIndex(sizes, &index));
  Store(y, context.output(0));
}

}  // namespace

void AddGathers(KernelRegistry* registry) {
  registry->Add({"gather_elements_fwd",
                 Suffix::kType,
                 {2, 2},
                 {1, 1},
                 {sizeof(synapse::ns_GatherElementsKernel::Params)},
                 GatherElements});
  registry->Add({"gather_fwd",
                 Suffix::kType,
                 {2, 2},
                 {1, 1},
                 {sizeof(synapse::ns_GatherKernel::Params), sizeof(synapse::ns_GatherKernel::ParamsV2)},
                 Gather});
  registry->Add({"one_hot_fwd", Suffix::kType, {1, 1}, {1, 1}, {sizeof(synapse::ns_OneHotKernel::Params)}, OneHot});
}

}  // namespace hpu::synapse_double
