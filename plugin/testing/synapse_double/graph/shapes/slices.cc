// Shapes of slices and strided views.
#include <iterator>

#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/testing/synapse_double/graph/shapes/shape_check.h"

namespace hpu::synapse_double {
namespace {

// Sizes of the slice of `whole`. Entries of step 0 are unused; dimensions without an entry are whole.
template <typename Params>
bool ReadEntries(ShapeCheck& check, const Sizes& whole, Sizes* slice) {
  const auto params = check.params<Params>();
  *slice = whole;
  std::vector<bool> used(whole.size());
  for (size_t i = 0; i < std::size(params.axes); ++i) {
    const uint64_t start = params.starts[i];
    const uint64_t end = params.ends[i];
    const uint64_t step = params.steps[i];
    const uint32_t axis = params.axes[i];
    if (step == 0) {
      if (!check.Require(start == 0 && end == 0, "entry ", i, ": step 0; steps are at least 1")) return false;
      continue;
    }
    if (!check.RequireAxis(axis, whole.size())) return false;
    if (!check.Require(!used[axis], "entry ", i, ": a second one for axis ", axis)) return false;
    used[axis] = true;
    if (!check.Require(start < end && end <= static_cast<uint64_t>(whole[axis]), "axis ", axis, " of ", TextOf(whole),
                       ": ", start, " to ", end, " is not inside")) {
      return false;
    }
    (*slice)[axis] = static_cast<int64_t>((end - start - 1) / step + 1);
  }
  return true;
}

bool ReadSlice(ShapeCheck& check, const Sizes& whole, Sizes* slice) {
  switch (check.params_size()) {
    case sizeof(synapse::synSliceParams):
      return ReadEntries<synapse::synSliceParams>(check, whole, slice);
    case sizeof(synapse::synSliceParams25Dims):
      return ReadEntries<synapse::synSliceParams25Dims>(check, whole, slice);
    default:
      return ReadEntries<synapse::synSliceParamsV2>(check, whole, slice);
  }
}

void Slice(ShapeCheck& check) {
  Sizes slice;
  if (ReadSlice(check, check.in(0), &slice)) check.RequireOutput(0, slice);
}

void SliceAxis(ShapeCheck& check) {
  const auto params = check.params<synapse::synSliceAxisParamsV2>();
  Sizes sizes = check.in(0);
  if (!check.RequireAxis(params.axis, sizes.size())) return;
  if (!check.Require(params.begin < params.end && params.end <= static_cast<uint64_t>(sizes[params.axis]), "axis ",
                     params.axis, " of ", TextOf(sizes), ": ", params.begin, " to ", params.end, " is not inside")) {
    return;
  }
  sizes[params.axis] = static_cast<int64_t>(params.end - params.begin);
  check.RequireOutput(0, sizes);
}

// x, update -> x with the update in the slice
void SliceInsert(ShapeCheck& check) {
  Sizes slice;
  check.RequireOutput(0, check.in(0));
  if (ReadSlice(check, check.in(0), &slice)) check.RequireInput(1, slice);
}

// dY[, shape of dX] -> dX, whose slice is dY
void StridedSliceGradient(ShapeCheck& check) {
  Sizes slice;
  if (ReadSlice(check, check.out(0), &slice)) check.RequireInput(0, slice);
  check.RequireShapeTensor(1, check.out(0));
}

// Requires that a strided view of sizes `view` lies inside a dense tensor.
void CheckView(ShapeCheck& check, const Sizes& whole, const Sizes& view) {
  const auto params = check.params<synapse::synStridedOpParams>();
  const uint64_t count = static_cast<uint64_t>(ElementCount(whole));
  if (!check.Require(params.baseOffset <= count, "offset ", params.baseOffset, " leaves the tensor ", TextOf(whole))) {
    return;
  }
  uint64_t last = params.baseOffset;
  for (size_t d = 0; d < view.size(); ++d) {
    const uint64_t steps = view[d] > 0 ? view[d] - 1 : 0;
    const bool leaves = params.strides[d] > 0 && steps > count / params.strides[d];
    if (!check.Require(!leaves, "stride ", params.strides[d], " of dimension ", d, " leaves the tensor ",
                       TextOf(whole))) {
      return;
    }
    last += steps * params.strides[d];
  }
  check.Require(last < count, "last element ", last, " of the view ", TextOf(view), " is outside the tensor ",
                TextOf(whole));
}

void StridedView(ShapeCheck& check) { CheckView(check, check.in(0), check.out(0)); }

void StridedInsert(ShapeCheck& check) {
  check.RequireOutput(0, check.in(0));
  CheckView(check, check.in(0), check.in(1));
}

}  // namespace

ShapeRules SliceShapes() {
  return {{"slice", Slice},
          {"slice_axis", SliceAxis},
          {"slice_insert", SliceInsert},
          {"strided_insert", StridedInsert},
          {"strided_slice_grad", StridedSliceGradient},
          {"strided_view", StridedView}};
}

}  // namespace hpu::synapse_double
