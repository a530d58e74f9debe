// Copies and changes of sizes: memcpy, reshape, transpose, broadcast, concat, split, reverse, tile.
#include <set>

#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/testing/synapse_double/kernels/box_copy.h"
#include "plugin/testing/synapse_double/kernels/dense_array.h"
#include "plugin/testing/synapse_double/kernels/families.h"

namespace hpu::synapse_double {
namespace {

void Copy(KernelContext& context) {
  if (!RequireSameType(&context, 0)) return;
  if (!context.RequireSizes(context.output(0), context.input(0).sizes, "output 0")) return;
  CopyBytes(context.input(0), context.output(0));
}

void Reshape(KernelContext& context) {
  const TensorView& x = context.input(0);
  const TensorView& y = context.output(0);
  if (!RequireSameType(&context, 0)) return;
  if (!context.Require(ElementCount(x.sizes) == ElementCount(y.sizes), "input 0 has sizes ", TextOf(x.sizes),
                       ", output 0 ", TextOf(y.sizes), ": other numbers of elements")) {
    return;
  }
  CopyBytes(x, y);
}

void ExpandDims(KernelContext& context) {
  Sizes sizes = context.input(0).sizes;
  const uint32_t axis = context.params<synapse::synExpandDimsParams>().axis;
  if (!context.Require(axis <= sizes.size(), "axis ", axis, " is above the rank ", sizes.size())) return;
  sizes.insert(sizes.begin() + axis, 1);
  if (context.RequireSizes(context.output(0), sizes, "output 0")) Reshape(context);
}

void Squeeze(KernelContext& context) {
  Sizes sizes = context.input(0).sizes;
  const uint32_t axis = context.params<synapse::synSqueezeParams>().axis;
  if (!context.Require(axis < sizes.size(), "axis ", axis, " is out of range for rank ", sizes.size())) return;
  if (!context.Require(sizes[axis] == 1, "axis ", axis, " of ", TextOf(sizes), " is not 1")) return;
  sizes.erase(sizes.begin() + axis);
  if (sizes.empty()) sizes = {1};
  if (context.RequireSizes(context.output(0), sizes, "output 0")) Reshape(context);
}

// Merges dimensions 0 to `axis` into one, and the dimensions above into another.
void Flatten(KernelContext& context) {
  const Sizes& from = context.input(0).sizes;
  const uint32_t axis = context.params<synapse::synFlattenParams>().axis;
  if (!context.Require(axis < from.size(), "axis ", axis, " is out of range for rank ", from.size())) return;
  const auto middle = from.begin() + axis + 1;
  const Sizes sizes = {ElementCount(Sizes(from.begin(), middle)), ElementCount(Sizes(middle, from.end()))};
  if (context.RequireSizes(context.output(0), sizes, "output 0")) Reshape(context);
}

void ReinterpretCast(KernelContext& context) {
  const TensorView& x = context.input(0);
  const TensorView& y = context.output(0);
  bool agree = x.rank() == y.rank() && SizeOf(x.sizes, 0) * BytesOf(x.type) == SizeOf(y.sizes, 0) * BytesOf(y.type);
  for (size_t i = 1; agree && i < x.rank(); ++i) agree = x.sizes[i] == y.sizes[i];
  if (!context.Require(agree, "input 0 ", SuffixOf(x.type), TextOf(x.sizes), ", output 0 ", SuffixOf(y.type),
                       TextOf(y.sizes), ": rows of other sizes in bytes")) {
    return;
  }
  CopyBytes(x, y);
}

// Size d of the result is size permutation[d] of the operand.
void Transpose(KernelContext& context) {
  const TensorView& x = context.input(0);
  Sizes permutation;
  size_t rank;
  if (context.params_size() == sizeof(synapse::synTransposeParams)) {
    const auto params = context.params<synapse::synTransposeParams>();
    rank = params.tensorDim;
    permutation.assign(params.permutation, params.permutation + std::min<size_t>(rank, 5));
  } else {
    const auto params = context.params<synapse::synTransposeParamsNDims>();
    rank = params.tensorDim;
    permutation.assign(params.permutation, params.permutation + std::min<size_t>(rank, 25));
  }
  const std::set<int64_t> distinct(permutation.begin(), permutation.end());
  if (!context.Require(
          rank > 0 && rank == x.rank() && distinct.size() == rank && *distinct.rbegin() < static_cast<int64_t>(rank),
          TextOf(permutation), " is not a permutation of the dimensions of ", TextOf(x.sizes))) {
    return;
  }
  Sizes sizes(rank);
  Box box = {0, Sizes(rank)};
  for (size_t d = 0; d < rank; ++d) {
    sizes[d] = x.sizes[permutation[d]];
    box.strides[d] = x.strides[permutation[d]];
  }
  if (!RequireSameType(&context, 0) || !context.RequireSizes(context.output(0), sizes, "output 0")) return;
  CopyBox(x, box, context.output(0), WholeBox(context.output(0)), sizes);
}

void Broadcast(KernelContext& context) {
  const TensorView& x = context.input(0);
  const TensorView& y = context.output(0);
  if (!RequireSameType(&context, 0)) return;
  Box box = {0, Sizes(y.rank())};
  for (size_t d = 0; d < std::max(x.rank(), y.rank()); ++d) {
    const int64_t size = SizeOf(x.sizes, d);
    if (!context.Require((d < y.rank() || size == 1) && (size == 1 || size == y.sizes[d]), "input 0: sizes ",
                         TextOf(x.sizes), " do not broadcast to ", TextOf(y.sizes))) {
      return;
    }
    if (d < y.rank() && size != 1) box.strides[d] = x.strides[d];
  }
  CopyBox(x, box, y, WholeBox(y), y.sizes);
}

// Calls visit(part, offset of the part in the whole) for parts of a tensor along an axis.
template <typename Visit>
void ForEachPart(KernelContext* context, const TensorView& whole, const std::vector<TensorView>& parts,
                 const Visit& visit) {
  const uint32_t axis = context->params<synapse::synAxisParams>().axis;
  if (!context->Require(axis < whole.rank(), "axis ", axis, " is out of range for rank ", whole.rank())) return;
  int64_t begin = 0;
  for (const TensorView& part : parts) {
    Sizes expected = whole.sizes;
    expected[axis] = SizeOf(part.sizes, axis);
    if (!context->RequireSizes(part, expected, "part")) return;
    if (!context->Require(part.type == whole.type, "types differ")) return;
    begin += expected[axis];
  }
  if (!context->Require(begin == whole.sizes[axis], "axis ", axis, ": the parts have size ", begin, ", the whole ",
                        whole.sizes[axis])) {
    return;
  }
  begin = 0;
  for (const TensorView& part : parts) {
    visit(part, Box{begin * whole.strides[axis], whole.strides});
    begin += part.sizes[axis];
  }
}

void Concat(KernelContext& context) {
  std::vector<TensorView> parts;
  for (size_t i = 0; i < context.input_count(); ++i) {
    if (!context.Require(context.has_input(i), "input ", i, " is missing")) return;
    parts.push_back(context.input(i));
  }
  const TensorView& whole = context.output(0);
  ForEachPart(&context, whole, parts,
              [&](const TensorView& part, const Box& box) { CopyBox(part, WholeBox(part), whole, box, part.sizes); });
}

void Split(KernelContext& context) {
  std::vector<TensorView> parts;
  for (size_t i = 0; i < context.output_count(); ++i) {
    if (!context.Require(context.has_output(i), "output ", i, " is missing")) return;
    parts.push_back(context.output(i));
  }
  const TensorView& whole = context.input(0);
  ForEachPart(&context, whole, parts,
              [&](const TensorView& part, const Box& box) { CopyBox(whole, box, part, WholeBox(part), part.sizes); });
}

void Reverse(KernelContext& context) {
  const TensorView& x = context.input(0);
  const TensorView& axes = context.input(1);
  if (!RequireSameType(&context, 0) || !context.RequireSizes(context.output(0), x.sizes, "output 0")) return;
  if (!context.Require(axes.type == ElementType::kI32 && ElementCount(axes.sizes) == 1,
                       "input 1: expected one i32, the axis")) {
    return;
  }
  const int64_t axis = Load<int64_t>(axes)[0];
  if (!context.Require(axis >= 0 && axis < static_cast<int64_t>(x.rank()), "axis ", axis, " is out of range for rank ",
                       x.rank())) {
    return;
  }
  Box box = WholeBox(x);
  box.offset = (x.sizes[axis] - 1) * x.strides[axis];
  box.strides[axis] = -x.strides[axis];
  CopyBox(x, box, context.output(0), WholeBox(context.output(0)), x.sizes);
}

// 4 repetitions in the first version, 5 in the second.
void Tile(KernelContext& context) {
  using synapse::ns_TileKernel::ParamsV2;
  const TensorView& x = context.input(0);
  const TensorView& y = context.output(0);
  ParamsV2 params = {};
  for (int& repeat : params.repeat) repeat = 1;
  params = context.params(params);
  if (!RequireSameType(&context, 0) || !context.Require(x.rank() <= 5, "input 0: rank above 5")) return;
  Sizes sizes = x.sizes;
  Sizes repeats(x.rank());
  for (size_t d = 0; d < x.rank(); ++d) {
    repeats[d] = params.repeat[d];
    if (!context.Require(repeats[d] > 0, "dimension ", d, ": ", repeats[d], " repetitions")) return;
    sizes[d] *= repeats[d];
  }
  if (!context.RequireSizes(y, sizes, "output 0")) return;
  Sizes tile(x.rank());
  do {
    Box box = WholeBox(y);
    for (size_t d = 0; d < x.rank(); ++d) box.offset += tile[d] * x.sizes[d] * y.strides[d];
    CopyBox(x, WholeBox(x), y, box, x.sizes);
  } while (NextIndex(repeats, &tile));
}

}  // namespace

void AddDataMovement(KernelRegistry* registry) {
  constexpr size_t kAnyCount = 1000;
  constexpr size_t kAxis = sizeof(synapse::synAxisParams);
  const auto add = [&](const char* stem, Arity inputs, Arity outputs, std::vector<size_t> params, Kernel kernel) {
    registry->Add({stem, Suffix::kNone, inputs, outputs, std::move(params), kernel});
  };
  // The second input is a shape tensor.
  add("broadcast", {1, 2}, {1, 1}, {0}, Broadcast);
  add("concat", {1, kAnyCount}, {1, 1}, {kAxis}, Concat);
  add("expand_dims", {1, 1}, {1, 1}, {kAxis}, ExpandDims);
  add("flatten", {1, 1}, {1, 1}, {kAxis}, Flatten);
  add("identity", {1, 1}, {1, 1}, {0}, Copy);
  add("memcpy", {1, 1}, {1, 1}, {0}, Copy);
  add("reinterpret_cast", {1, 1}, {1, 1}, {0}, ReinterpretCast);
  add("reshape", {1, 2}, {1, 1}, {0}, Reshape);
  add("split", {1, 1}, {1, kAnyCount}, {kAxis}, Split);
  add("squeeze", {1, 1}, {1, 1}, {kAxis}, Squeeze);
  add("static_reshape", {1, 1}, {1, 1}, {0}, Reshape);
  add("transpose", {1, 1}, {1, 1}, {sizeof(synapse::synTransposeParams), sizeof(synapse::synTransposeParamsNDims)},
      Transpose);
  registry->Add({"reverse", Suffix::kType, {2, 2}, {1, 1}, {0}, Reverse});
  registry->Add({"tile_fwd",
                 Suffix::kType,
                 {1, 1},
                 {1, 1},
                 {sizeof(synapse::ns_TileKernel::Params), sizeof(synapse::ns_TileKernel::ParamsV2)},
                 Tile});
}

}  // namespace hpu::synapse_double
