#include "plugin/testing/synapse_double/kernels/box_copy.h"

#include <cstring>
#include <vector>

namespace hpu::synapse_double {

Box WholeBox(const TensorView& view) { return {0, view.strides}; }

void CopyBox(const TensorView& from, const Box& from_box, const TensorView& to, const Box& to_box, const Sizes& sizes) {
  const size_t bytes = BytesOf(to.type);
  std::vector<int64_t> sources;
  sources.reserve(ElementCount(sizes));
  ForEachOffset(sizes, from_box.strides, [&](int64_t offset) { sources.push_back(offset); });
  size_t position = 0;
  ForEachOffset(sizes, to_box.strides, [&](int64_t offset) {
    std::memcpy(to.At(to_box.offset + offset), from.At(from_box.offset + sources[position++]), bytes);
  });
}

void CopyBytes(const TensorView& from, const TensorView& to) {
  std::vector<char> bytes;
  const size_t from_bytes = BytesOf(from.type);
  ForEachOffset(from.sizes, from.strides,
                [&](int64_t offset) { bytes.insert(bytes.end(), from.At(offset), from.At(offset) + from_bytes); });
  const size_t to_bytes = BytesOf(to.type);
  size_t position = 0;
  ForEachOffset(to.sizes, to.strides, [&](int64_t offset) {
    std::memcpy(to.At(offset), bytes.data() + position, to_bytes);
    position += to_bytes;
  });
}

bool RequireSameType(KernelContext* context, size_t i) {
  const ElementType from = context->input(i).type;
  const ElementType to = context->output(0).type;
  return context->Require(from == to, "input ", i, ": type ", SuffixOf(from), ", output 0 has ", SuffixOf(to));
}

}  // namespace hpu::synapse_double
