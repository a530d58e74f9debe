// Shapes of nodes that move whole arrays, such as reshape, transpose, broadcast, concat and split.
#include <algorithm>

#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/testing/synapse_double/graph/shapes/shape_check.h"

namespace hpu::synapse_double {
namespace {

void Same(ShapeCheck& check) { check.RequireOutput(0, check.in(0)); }

void Reshape(ShapeCheck& check) {
  check.Require(ElementCount(check.in(0)) == ElementCount(check.out(0)), "input ", TextOf(check.in(0)), " and output ",
                TextOf(check.out(0)), ": numbers of elements differ");
}

void ExpandDims(ShapeCheck& check) {
  Sizes sizes = check.in(0);
  const uint32_t axis = check.params<synapse::synExpandDimsParams>().axis;
  if (!check.Require(axis <= sizes.size(), "axis ", axis, " is above the rank ", sizes.size())) return;
  sizes.insert(sizes.begin() + axis, 1);
  check.RequireOutput(0, sizes);
}

void Squeeze(ShapeCheck& check) {
  Sizes sizes = check.in(0);
  const uint32_t axis = check.params<synapse::synSqueezeParams>().axis;
  if (!check.RequireAxis(axis, sizes.size())) return;
  if (!check.Require(sizes[axis] == 1, "axis ", axis, " of ", TextOf(sizes), " does not have size 1")) return;
  sizes.erase(sizes.begin() + axis);
  check.RequireOutput(0, sizes.empty() ? Sizes{1} : sizes);
}

void Flatten(ShapeCheck& check) {
  const Sizes& sizes = check.in(0);
  const uint32_t axis = check.params<synapse::synFlattenParams>().axis;
  if (!check.RequireAxis(axis, sizes.size())) return;
  const auto split = sizes.begin() + axis + 1;
  check.RequireOutput(0, {ElementCount(Sizes(sizes.begin(), split)), ElementCount(Sizes(split, sizes.end()))});
}

void ReinterpretCast(ShapeCheck& check) {
  const auto row_bytes = [](const Tensor& tensor) {
    return tensor.sizes[0] * static_cast<int64_t>(ElementBytes(tensor.type));
  };
  const Sizes& x = check.in(0);
  const Sizes& y = check.out(0);
  const bool same_rows = x.size() == y.size() && std::equal(x.begin() + 1, x.end(), y.begin() + 1);
  check.Require(same_rows && row_bytes(check.input(0)) == row_bytes(check.output(0)), "input ",
                check.input(0).Describe(), " and output ", check.output(0).Describe(),
                ": expected the same rank and bytes of the fastest dimension");
}

void Transpose(ShapeCheck& check) {
  const Sizes& x = check.in(0);
  uint32_t rank = 0;
  Sizes permutation;
  if (check.params_size() == sizeof(synapse::synTransposeParams)) {
    const auto params = check.params<synapse::synTransposeParams>();
    rank = params.tensorDim;
    permutation.assign(params.permutation, params.permutation + 5);
  } else {
    const auto params = check.params<synapse::synTransposeParamsNDims>();
    rank = params.tensorDim;
    permutation.assign(params.permutation, params.permutation + 25);
  }
  if (!check.Require(rank == x.size() && rank <= permutation.size(), "params have rank ", rank, "; the input is ",
                     TextOf(x))) {
    return;
  }
  permutation.resize(rank);
  Sizes sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  Sizes result(rank);
  for (size_t d = 0; d < rank; ++d) {
    if (!check.Require(sorted[d] == static_cast<int64_t>(d), TextOf(permutation), " is not a permutation")) return;
    result[d] = x[permutation[d]];
  }
  check.RequireOutput(0, result);
}

void CheckedBroadcast(ShapeCheck& check) {
  const Sizes& x = check.in(0);
  const Sizes& y = check.out(0);
  bool agree = x.size() <= y.size();
  for (size_t d = 0; agree && d < x.size(); ++d) agree = x[d] == 1 || x[d] == y[d];
  check.Require(agree, "input ", TextOf(x), " does not broadcast to output ", TextOf(y));
}

// Requires that the parts, concatenated along the axis, have the sizes of the whole.
void CheckParts(ShapeCheck& check, const Sizes& whole, const std::vector<const Sizes*>& parts) {
  const uint32_t axis = check.params<synapse::synAxisParams>().axis;
  if (!check.RequireAxis(axis, whole.size())) return;
  int64_t sum = 0;
  for (const Sizes* part : parts) {
    Sizes expected = whole;
    expected[axis] = SizeOf(*part, axis);
    sum += expected[axis];
    if (!check.Require(*part == expected, "part ", TextOf(*part), " of ", TextOf(whole), " along axis ", axis,
                       ": other dimensions differ")) {
      return;
    }
  }
  check.Require(sum == whole[axis], "parts have ", sum, " in sum along axis ", axis, " of ", TextOf(whole));
}

void Concat(ShapeCheck& check) {
  std::vector<const Sizes*> parts;
  for (size_t i = 0; i < check.input_count(); ++i) {
    if (check.has_input(i) && !check.input(i).is_shape()) parts.push_back(&check.in(i));
  }
  CheckParts(check, check.out(0), parts);
}

void Split(ShapeCheck& check) {
  std::vector<const Sizes*> parts;
  for (size_t i = 0; i < check.output_count(); ++i) parts.push_back(&check.out(i));
  CheckParts(check, check.in(0), parts);
}

void Reverse(ShapeCheck& check) {
  Same(check);
  check.RequireInputElements(1, 1);
}

void Tile(ShapeCheck& check) {
  synapse::ns_TileKernel::ParamsV2 ones;
  std::fill(std::begin(ones.repeat), std::end(ones.repeat), 1);
  const auto params = check.params(ones);
  Sizes sizes = check.in(0);
  for (size_t d = 0; d < sizes.size(); ++d) sizes[d] *= params.repeat[d];
  check.RequireOutput(0, sizes);
}

void Pad(ShapeCheck& check) {
  const auto params = check.params<synapse::ns_PadKernelEx::Params>();
  Sizes sizes = check.in(0);
  for (size_t d = 0; d < 5; ++d) {
    const int64_t pads = int64_t{params.pads[d]} + params.pads[5 + d];
    if (d < sizes.size()) {
      sizes[d] += pads;
    } else {
      check.Require(pads == 0, "pads of dimension ", d, " of ", TextOf(sizes));
    }
  }
  check.RequireOutput(0, sizes);
}

}  // namespace

ShapeRules MovementShapes() {
  return {{"broadcast", CheckedBroadcast},
          {"concat", Concat},
          {"expand_dims", ExpandDims},
          {"flatten", Flatten},
          {"identity", Same},
          {"memcpy", Same},
          {"pad_fwd", Pad},
          {"reinterpret_cast", ReinterpretCast},
          {"reshape", Reshape},
          {"reverse", Reverse},
          {"split", Split},
          {"squeeze", Squeeze},
          {"static_reshape", Reshape},
          {"tile_fwd", Tile},
          {"transpose", Transpose}};
}

}  // namespace hpu::synapse_double
