// Slices, insertions of slices, and strided views.
#include <algorithm>

#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/testing/synapse_double/kernels/box_copy.h"
#include "plugin/testing/synapse_double/kernels/families.h"

namespace hpu::synapse_double {
namespace {

// A box of a tensor: elements start, start + step, … below end, in each dimension.
struct SliceBox {
  Sizes sizes;
  Box box;
};

// Entries whose step is 0 are unused. Dimensions without an entry are whole.
template <typename Params>
bool ReadEntries(KernelContext* context, const TensorView& whole, SliceBox* slice) {
  const auto params = context->params<Params>();
  constexpr size_t kEntries = std::size(Params{}.axes);
  slice->sizes = whole.sizes;
  slice->box = WholeBox(whole);
  std::vector<bool> used(whole.rank());
  for (size_t i = 0; i < kEntries; ++i) {
    const uint64_t axis = params.axes[i];
    const uint64_t start = params.starts[i];
    const uint64_t end = params.ends[i];
    const uint64_t step = params.steps[i];
    if (step == 0) {
      if (!context->Require(start == 0 && end == 0, "entry ", i, ": step 0")) return false;
      continue;
    }
    if (!context->Require(axis < whole.rank() && !used[axis], "entry ", i, ": axis ", axis, " of ", TextOf(whole.sizes),
                          " is out of range or used twice")) {
      return false;
    }
    used[axis] = true;
    if (!context->Require(start < end && end <= static_cast<uint64_t>(whole.sizes[axis]), "axis ", axis, ": [", start,
                          ", ", end, ") is not inside ", TextOf(whole.sizes))) {
      return false;
    }
    slice->sizes[axis] = static_cast<int64_t>((end - start - 1) / step + 1);
    slice->box.offset += static_cast<int64_t>(start) * whole.strides[axis];
    slice->box.strides[axis] = whole.strides[axis] * static_cast<int64_t>(std::min(step, end));
  }
  return true;
}

bool ReadSlice(KernelContext* context, const TensorView& whole, SliceBox* slice) {
  switch (context->params_size()) {
    case sizeof(synapse::synSliceParams):
      return ReadEntries<synapse::synSliceParams>(context, whole, slice);
    case sizeof(synapse::synSliceParams25Dims):
      return ReadEntries<synapse::synSliceParams25Dims>(context, whole, slice);
    default:
      return ReadEntries<synapse::synSliceParamsV2>(context, whole, slice);
  }
}

void Slice(KernelContext& context) {
  const TensorView& x = context.input(0);
  SliceBox slice;
  if (!RequireSameType(&context, 0) || !ReadSlice(&context, x, &slice)) return;
  if (!context.RequireSizes(context.output(0), slice.sizes, "output 0")) return;
  CopyBox(x, slice.box, context.output(0), WholeBox(context.output(0)), slice.sizes);
}

void SliceAxis(KernelContext& context) {
  const TensorView& x = context.input(0);
  const auto params = context.params<synapse::synSliceAxisParamsV2>();
  if (!context.Require(params.axis < x.rank(), "axis ", params.axis, " is out of range for rank ", x.rank())) return;
  Sizes sizes = x.sizes;
  if (!context.Require(params.begin < params.end && params.end <= static_cast<uint64_t>(sizes[params.axis]), "[",
                       params.begin, ", ", params.end, ") is not inside axis ", params.axis, " of ", TextOf(sizes))) {
    return;
  }
  sizes[params.axis] = static_cast<int64_t>(params.end - params.begin);
  if (!RequireSameType(&context, 0) || !context.RequireSizes(context.output(0), sizes, "output 0")) return;
  Box box = WholeBox(x);
  box.offset = static_cast<int64_t>(params.begin) * x.strides[params.axis];
  CopyBox(x, box, context.output(0), WholeBox(context.output(0)), sizes);
}

// The first input, with the second one in the slice.
void SliceInsert(KernelContext& context) {
  const TensorView& y = context.output(0);
  SliceBox slice;
  if (!RequireSameType(&context, 0) || !RequireSameType(&context, 1) || !ReadSlice(&context, y, &slice)) return;
  if (!context.RequireSizes(context.input(0), y.sizes, "input 0")) return;
  if (!context.RequireSizes(context.input(1), slice.sizes, "input 1")) return;
  CopyBytes(context.input(0), y);
  CopyBox(context.input(1), WholeBox(context.input(1)), y, slice.box, slice.sizes);
}

// Zeros, with the input in the slice.
void StridedSliceGradient(KernelContext& context) {
  const TensorView& y = context.output(0);
  SliceBox slice;
  if (!RequireSameType(&context, 0) || !ReadSlice(&context, y, &slice)) return;
  if (!context.RequireSizes(context.input(0), slice.sizes, "input 0")) return;
  ForEachOffset(y.sizes, y.strides, [&](int64_t offset) { std::fill_n(y.At(offset), BytesOf(y.type), 0); });
  CopyBox(context.input(0), WholeBox(context.input(0)), y, slice.box, slice.sizes);
}

// The box of a strided view in a dense tensor. `sizes`: of the view.
bool ReadStridedView(KernelContext* context, const TensorView& whole, const Sizes& sizes, Box* box) {
  const auto params = context->params<synapse::synStridedOpParams>();
  if (!context->Require(whole.strides == DenseStrides(whole.sizes), "the viewed tensor has gaps")) return false;
  const auto count = static_cast<uint64_t>(ElementCount(whole.sizes));
  bool fits = params.baseOffset < count;
  // Number of elements after the last element of the view, for the dimensions visited so far.
  uint64_t room = fits ? count - 1 - params.baseOffset : 0;
  *box = {static_cast<int64_t>(params.baseOffset), Sizes(sizes.size())};
  for (size_t d = 0; fits && d < sizes.size(); ++d) {
    const auto steps = static_cast<uint64_t>(sizes[d] - 1);
    if (steps == 0) continue;
    fits = params.strides[d] <= room / steps;
    room -= fits ? params.strides[d] * steps : 0;
    box->strides[d] = static_cast<int64_t>(params.strides[d]);
  }
  return context->Require(fits, "the view ", TextOf(sizes), " is not inside ", TextOf(whole.sizes));
}

void StridedView(KernelContext& context) {
  const TensorView& y = context.output(0);
  Box box;
  if (!RequireSameType(&context, 0) || !ReadStridedView(&context, context.input(0), y.sizes, &box)) return;
  CopyBox(context.input(0), box, y, WholeBox(y), y.sizes);
}

// The first input, with the second one in the strided view.
void StridedInsert(KernelContext& context) {
  const TensorView& y = context.output(0);
  const TensorView& inserted = context.input(1);
  Box box;
  if (!RequireSameType(&context, 0) || !RequireSameType(&context, 1)) return;
  if (!context.RequireSizes(context.input(0), y.sizes, "input 0")) return;
  if (!ReadStridedView(&context, y, inserted.sizes, &box)) return;
  CopyBytes(context.input(0), y);
  CopyBox(inserted, WholeBox(inserted), y, box, inserted.sizes);
}

}  // namespace

void AddSlices(KernelRegistry* registry) {
  const std::vector<size_t> slice_params = {sizeof(synapse::synSliceParams), sizeof(synapse::synSliceParams25Dims),
                                            sizeof(synapse::synSliceParamsV2)};
  const auto add = [&](const char* stem, Arity inputs, std::vector<size_t> params, Kernel kernel) {
    registry->Add({stem, Suffix::kNone, inputs, {1, 1}, std::move(params), kernel});
  };
  // A shape tensor may follow the first input.
  add("slice", {1, 2}, slice_params, Slice);
  add("slice_axis", {1, 2}, {sizeof(synapse::synSliceAxisParamsV2)}, SliceAxis);
  add("slice_insert", {2, 2}, slice_params, SliceInsert);
  add("strided_insert", {2, 2}, {sizeof(synapse::synStridedOpParams)}, StridedInsert);
  add("strided_slice_grad", {1, 2}, slice_params, StridedSliceGradient);
  add("strided_view", {1, 2}, {sizeof(synapse::synStridedOpParams)}, StridedView);
}

}  // namespace hpu::synapse_double
