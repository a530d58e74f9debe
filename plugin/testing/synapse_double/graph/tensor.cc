#include "plugin/testing/synapse_double/graph/tensor.h"

#include <algorithm>
#include <utility>

namespace hpu::synapse_double {
namespace {

using synapse::synInvalidArgument;

constexpr uint64_t kMaxConstantBytes = uint64_t{1} << 20;  // outside const sections
constexpr uint64_t kMaxGroup = 255;
constexpr int64_t kMaxBytes = int64_t{1} << 62;

Verdict CheckSectionUnlocked(const Section& section, const char* property) {
  if (!section.locked) return {};
  return Violation(Rule::kLockedProperties, synapse::synObjectAlreadyInitialized, "cannot set ", property,
                   " of a section: a tensor in it has a node already; set it before");
}

Verdict CheckSection(const Section& section) {
  if (!section.persistent || !section.read_modify_write) return {};
  return Violation(Rule::kSections, synapse::synUnsupported,
                   "a section is both persistent and read-modify-write; use two sections");
}

// Whether the product of sizes and the element's bytes is at most kMaxBytes.
bool FitsMemory(const Sizes& sizes, uint64_t element_bytes) {
  int64_t left = kMaxBytes / static_cast<int64_t>(element_bytes);
  for (const int64_t size : sizes) {
    if (size == 0) return true;
    left /= size;
  }
  return left > 0;
}

bool IsPermutation(std::vector<uint8_t> values) {
  std::sort(values.begin(), values.end());
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] != i) return false;
  }
  return true;
}

}  // namespace

Verdict Section::SetPersistent(bool value) {
  if (Verdict verdict = CheckSectionUnlocked(*this, "persistence"); !verdict.ok()) return verdict;
  Section changed = *this;
  changed.persistent = value;
  if (Verdict verdict = CheckSection(changed); !verdict.ok()) return verdict;
  *this = changed;
  return {};
}

Verdict Section::SetReadModifyWrite(bool value) {
  if (Verdict verdict = CheckSectionUnlocked(*this, "read-modify-write"); !verdict.ok()) return verdict;
  Section changed = *this;
  changed.read_modify_write = value;
  if (Verdict verdict = CheckSection(changed); !verdict.ok()) return verdict;
  *this = changed;
  return {};
}

Verdict Section::SetConstant(bool value) {
  if (Verdict verdict = CheckSectionUnlocked(*this, "constness"); !verdict.ok()) return verdict;
  constant = value;
  return {};
}

Verdict Section::SetGroup(uint64_t value) {
  if (Verdict verdict = CheckSectionUnlocked(*this, "the group"); !verdict.ok()) return verdict;
  if (value > kMaxGroup) {
    return Violation(Rule::kSections, synInvalidArgument, "section group ", value, ": groups are 0 to ", kMaxGroup);
  }
  group = value;
  return {};
}

std::string Tensor::Describe() const {
  return Text(name.empty() ? "(unnamed)" : name, " ", is_shape() ? "shape" : TypeText(type), TextOf(sizes));
}

Verdict Tensor::CheckUnlocked(const char* property) const {
  if (!locked) return {};
  return Violation(Rule::kLockedProperties, synapse::synObjectAlreadyInitialized, "cannot set ", property,
                   " of tensor ", Describe(), ": it has a node already; set it before synNodeCreate");
}

Verdict Tensor::SetSizes(uint32_t dims, const Sizes& values, synapse::synGeometryType which) {
  if (Verdict verdict = CheckUnlocked("the geometry"); !verdict.ok()) return verdict;
  if (which > synapse::synGeometryDims) {
    return Violation(Rule::kTensorProperties, synInvalidArgument, "tensor ", Describe(), ": unknown geometry type ",
                     uint32_t{which});
  }
  if (dims == 0) {
    return Violation(Rule::kTensorProperties, synInvalidArgument, "tensor ", Describe(),
                     ": geometry without dimensions; a scalar has one dimension of size 1");
  }
  if (rank != 0 && dims != rank) {
    return Violation(Rule::kTensorProperties, synInvalidArgument, "tensor ", Describe(), ": rank ", dims,
                     " where an earlier geometry has rank ", rank);
  }
  if (which != synapse::synGeometryDims) {
    for (const int64_t size : values) {
      if (size < 0) {
        return Violation(Rule::kTensorProperties, synInvalidArgument, "tensor ", Describe(), ": a size above 2^63");
      }
    }
    (which == synapse::synGeometryMinSizes ? min_sizes : sizes) = values;
  }
  rank = dims;
  return {};
}

Verdict Tensor::SetType(synapse::synDataType value) {
  if (Verdict verdict = CheckUnlocked("the data type"); !verdict.ok()) return verdict;
  if (ElementBytes(value) == 0) {
    return Violation(Rule::kTensorProperties, synInvalidArgument, "tensor ", Describe(), ": ", TypeText(value),
                     " is not a tensor type that the double models");
  }
  type = value;
  return {};
}

Verdict Tensor::AssignToSection(Section* value, uint64_t byte_offset) {
  if (Verdict verdict = CheckUnlocked("the section"); !verdict.ok()) return verdict;
  if (value->graph != graph) {
    return Violation(Rule::kSections, synInvalidArgument, "tensor ", Describe(),
                     ": the section belongs to another graph");
  }
  section = value;
  offset = byte_offset;
  return {};
}

Verdict Tensor::SetHostData(const void* data, uint64_t size, synapse::synDataType data_type, bool copy) {
  if (Verdict verdict = CheckUnlocked("the host pointer"); !verdict.ok()) return verdict;
  if (data == nullptr || size == 0) {
    return Violation(Rule::kTensorProperties, synInvalidArgument, "tensor ", Describe(), ": host pointer ", data,
                     " of ", size, " bytes");
  }
  host = HostData{data, size, data_type, {}};
  if (copy) host->copy.assign(static_cast<const char*>(data), static_cast<const char*>(data) + size);
  return {};
}

Verdict Tensor::SetPermutation(std::vector<uint8_t> values) {
  if (Verdict verdict = CheckUnlocked("the permutation"); !verdict.ok()) return verdict;
  if (!IsPermutation(values)) {
    return Violation(Rule::kTensorProperties, synInvalidArgument, "tensor ", Describe(), ": not a permutation of ",
                     values.size(), " dimensions");
  }
  permutation = std::move(values);
  return {};
}

Verdict Tensor::SetAllowPermutation(int8_t allow) {
  if (Verdict verdict = CheckUnlocked("allow-permutation"); !verdict.ok()) return verdict;
  allow_permutation = allow;
  return {};
}

Verdict Tensor::SetExternal(bool value) {
  if (Verdict verdict = CheckUnlocked("external"); !verdict.ok()) return verdict;
  external = value;
  return {};
}

Verdict Tensor::CheckHostData() const {
  if (section != nullptr && !section->constant) {
    return Violation(Rule::kTensorProperties, synInvalidArgument, "tensor ", Describe(),
                     ": a host pointer in a section that is not const");
  }
  if (host->type != type) {
    return Violation(Rule::kTensorProperties, synInvalidArgument, "tensor ", Describe(), ": its host buffer has ",
                     TypeText(host->type));
  }
  if (host->size != BytesOf(*this)) {
    return Violation(Rule::kConstants, synInvalidArgument, "tensor ", Describe(), ": its host buffer has ", host->size,
                     " bytes; expected ", BytesOf(*this));
  }
  if (host->size > kMaxConstantBytes && section == nullptr) {
    return Violation(Rule::kConstants, synInvalidArgument, "tensor ", Describe(), ": a constant of ", host->size,
                     " bytes; above ", kMaxConstantBytes, " a constant must lie in a const section");
  }
  return {};
}

Verdict Tensor::CheckProperties() const {
  const auto invalid = [&](const auto&... parts) {
    return Violation(Rule::kTensorProperties, synInvalidArgument, "tensor ", Describe(), ": ", parts...);
  };
  if (kind != synapse::DATA_TENSOR && !is_shape()) {
    return NotModelled("tensor ", Describe(), ": tensors of type ", uint32_t{kind}, " are not modelled");
  }
  if (sizes.empty()) return invalid("no geometry");
  if (!min_sizes.empty() && min_sizes != sizes) {
    return NotModelled("tensor ", Describe(), ": dynamic shapes are not modelled");
  }
  if (rank > synapse::SYN_GAUDI_MAX_TENSOR_DIM) {
    return Violation(Rule::kRank, synapse::synInvalidTensorDimensions, "tensor ", Describe(), ": rank ", rank,
                     "; the maximum is ", synapse::SYN_GAUDI_MAX_TENSOR_DIM);
  }
  if (is_shape()) return {};
  if (type == synapse::syn_type_na) return invalid("no data type");
  if (!FitsMemory(sizes, ElementBytes(type))) return invalid("more than 2^62 bytes");
  if (offset > static_cast<uint64_t>(kMaxBytes) - BytesOf(*this)) {
    return invalid("offset ", offset, " in its section; the tensor must end below 2^62 bytes");
  }
  if (is_persistent() && name.empty()) return invalid("persistent without a name");
  if (!permutation.empty() && !is_persistent()) return invalid("a permutation without persistence");
  if (!permutation.empty() && permutation.size() != rank) {
    return invalid("a permutation of ", permutation.size(), " dimensions");
  }
  if (external && !is_persistent()) return invalid("external without persistence");
  if (host) return CheckHostData();
  if (section != nullptr && section->constant) return invalid("in a const section without a host pointer");
  return {};
}

uint64_t BytesOf(const Tensor& tensor) {
  uint64_t bytes = ElementBytes(tensor.type);
  for (const int64_t size : tensor.sizes) bytes *= static_cast<uint64_t>(size);
  return bytes;
}

Sizes StridesOf(const Sizes& sizes, const std::vector<uint8_t>& permutation) {
  if (permutation.empty()) return DenseStrides(sizes);
  Sizes strides(sizes.size());
  int64_t stride = 1;
  for (const uint8_t dimension : permutation) {
    strides[dimension] = stride;
    stride *= sizes[dimension];
  }
  return strides;
}

uint64_t ElementBytes(synapse::synDataType type) { return BytesOf(static_cast<ElementType>(type)); }

std::string TypeText(synapse::synDataType type) {
  if (ElementBytes(type) == 0) return Text("type ", uint32_t{type});
  return SuffixOf(static_cast<ElementType>(type));
}

}  // namespace hpu::synapse_double
