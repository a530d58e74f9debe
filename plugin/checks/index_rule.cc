#include "plugin/checks/index_rule.h"

#include <array>
#include <limits>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/base/status_macros.h"
#include "plugin/checks/whole_number.h"
#include "tensorflow/core/framework/types.h"

namespace hpu::checks {
namespace {

using tensorflow::Tensor;
using Sizes = absl::Span<const int64_t>;

constexpr std::array<const char*, 12> kNames = {"index",           "slice",  "box",         "vector",  "label",
                                                "segment",         "length", "permutation", "element", "list_element",
                                                "written_element", "begin"};

int64_t AxisOf(const IndexRule& rule, int64_t rank) { return rule.axis < 0 ? rule.axis + rank : rule.axis; }

// Position of the i-th element: "[1,2]".
std::string Position(const Tensor& tensor, int64_t i) {
  std::vector<int64_t> position(tensor.dims());
  for (int d = tensor.dims() - 1; d >= 0; --d) {
    position[d] = i % tensor.dim_size(d);
    i /= tensor.dim_size(d);
  }
  return position.empty() ? "" : absl::StrCat("[", absl::StrJoin(position, ","), "]");
}

// The texts are those of the ops' CPU kernels.
template <typename Index>
class IndexCheck {
 public:
  IndexCheck(const IndexRule& rule, const Tensor& indices, Sizes sizes)
      : rule_(rule), indices_(indices), values_(indices.flat<Index>()), sizes_(sizes) {}

  absl::Status Run() const {
    const IndexKind kind = rule_.kind;
    if (kind == IndexKind::kVector) return CheckVectors();
    if (kind == IndexKind::kBegin) return CheckBegin();
    const int64_t axis = AxisOf(rule_, static_cast<int64_t>(sizes_.size())), limit = sizes_[axis];
    if ((kind == IndexKind::kSegment || kind == IndexKind::kSlice) && HasEmptySlices(axis)) return absl::OkStatus();
    for (int64_t i = 0; i < values_.size(); ++i) {
      const int64_t value = values_(i) < 0 ? values_(i) + rule_.added_to_negative : values_(i);
      if (!IsInRange(value, limit)) return Error(i, value, limit);
    }
    return kind == IndexKind::kPermutation ? CheckOnce(limit) : absl::OkStatus();
  }

 private:
  bool IsInRange(int64_t value, int64_t limit) const {
    switch (rule_.kind) {
      case IndexKind::kSegment:
        return value < limit;
      case IndexKind::kElement:
        return value >= -limit && value < limit;
      case IndexKind::kLength:
        return value >= 0 && value <= limit;
      default:
        return value >= 0 && value < limit;
    }
  }

  bool HasEmptySlices(int64_t axis) const {
    for (size_t i = 0; i < sizes_.size(); ++i) {
      if (static_cast<int64_t>(i) != axis && sizes_[i] == 0) return true;
    }
    return false;
  }

  absl::Status Error(int64_t i, int64_t value, int64_t limit) const {
    const auto code =
        rule_.kind == IndexKind::kBox ? absl::StatusCode::kOutOfRange : absl::StatusCode::kInvalidArgument;
    return absl::Status(code, Text(i, value, limit));
  }

  std::string Text(int64_t i, int64_t value, int64_t limit) const {
    switch (rule_.kind) {
      case IndexKind::kLabel:
        return absl::StrCat("Received a label value of ", value, " which is outside the valid range of [0, ", limit,
                            ").  Label values: ", indices_.SummarizeValue(indices_.NumElements()));
      case IndexKind::kSegment:
        return absl::StrCat("segment_ids", Position(indices_, i), " = ", value, " is out of range [0, ", limit, ")");
      case IndexKind::kBox:
        return "box_index has values outside [0, batch_size)";
      case IndexKind::kLength:
        return value < 0 ? absl::StrCat("seq_lens(", i, ") < 0")
                         : absl::StrCat("seq_lens(", i, ") > input.dims(", rule_.axis, ")");
      case IndexKind::kPermutation:
        return absl::StrCat(value, " is not between 0 and ", limit);
      case IndexKind::kElement:
        return absl::StrCat("slice index ", value, " of dimension ", rule_.axis, " out of bounds.");
      case IndexKind::kListElement:
        return absl::StrCat("Trying to access element ", value, " in a list with ", limit, " elements.");
      case IndexKind::kWrittenElement:
        return absl::StrCat("Trying to modify element ", value, " in a list with ", limit, " elements.");
      default:
        return absl::StrCat("indices", Position(indices_, i), " = ", value, " is not in [0, ", limit, ")");
    }
  }

  // Requires values in [0, limit).
  absl::Status CheckOnce(int64_t limit) const {
    std::vector<bool> seen(limit);
    for (int64_t i = 0; i < values_.size(); ++i) {
      if (seen[values_(i)]) return absl::InvalidArgumentError(absl::StrCat(values_(i), " is duplicated in the input."));
      seen[values_(i)] = true;
    }
    return absl::OkStatus();
  }

  absl::Status CheckVectors() const {
    const auto rows = indices_.flat_inner_dims<Index>();
    for (int64_t row = 0; row < rows.dimension(0); ++row) {
      for (int64_t i = 0; i < rows.dimension(1); ++i) {
        if (rows(row, i) >= 0 && rows(row, i) < sizes_[i]) continue;
        const absl::Span<const Index> vector(&rows(row, 0), rows.dimension(1));
        return absl::InvalidArgumentError(absl::StrCat("indices[", row, "] = [", absl::StrJoin(vector, ", "),
                                                       "] does not index into shape [", absl::StrJoin(sizes_, ","),
                                                       "]"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckBegin() const {
    for (int64_t i = 0; i < values_.size(); ++i) {
      const int64_t dimension = sizes_[i], size = sizes_[values_.size() + i], first = values_(i);
      if (first >= 0 && size >= 0 && size <= dimension && first <= dimension - size) continue;
      if (dimension == 0) {
        return absl::InvalidArgumentError(absl::StrCat("Expected begin[", i, "] == 0 (got ", first, ") and size[", i,
                                                       "] == 0 (got ", size, ") when input.dim_size(", i, ") == 0"));
      }
      if (first < 0 || first > dimension) {
        return absl::InvalidArgumentError(
            absl::StrCat("Expected begin[", i, "] in [0, ", dimension, "], but got ", first));
      }
      return absl::InvalidArgumentError(
          absl::StrCat("Expected size[", i, "] in [0, ", dimension - first, "], but got ", size));
    }
    return absl::OkStatus();
  }

  const IndexRule& rule_;
  const Tensor& indices_;
  const typename tensorflow::TTypes<Index>::ConstFlat values_;
  const Sizes sizes_;
};

}  // namespace

const char* NameOf(IndexKind kind) { return kNames[static_cast<size_t>(kind)]; }

std::string KindAttribute() { return absl::StrCat("kind: {'", absl::StrJoin(kNames, "', '"), "'}"); }

std::optional<IndexRule> RuleOf(const IndexedOp& op, tensorflow::AttrSlice attributes, const Tensor* axis) {
  if (op.kind == IndexKind::kLabel) return IndexRule{op.kind, -1};
  if (op.axis == nullptr) return IndexRule{op.kind, 0};
  int64_t attribute = 0;
  if (tensorflow::TryGetNodeAttr(attributes, op.axis, &attribute)) return IndexRule{op.kind, attribute};
  if (axis == nullptr || axis->NumElements() != 1) return std::nullopt;
  return IndexRule{op.kind, WholeNumber(*axis)};
}

absl::StatusOr<IndexRule> RuleIn(tensorflow::AttrSlice attributes) {
  std::string name;
  IndexRule rule;
  HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(attributes, "kind", &name));
  HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(attributes, "axis", &rule.axis));
  tensorflow::TryGetNodeAttr(attributes, "added_to_negative", &rule.added_to_negative);
  const auto* const found = absl::c_find(kNames, name);
  if (found == kNames.end()) return absl::InvalidArgumentError(absl::StrCat("no kind of indices is named ", name));
  rule.kind = static_cast<IndexKind>(found - kNames.begin());
  return rule;
}

bool IsIndexType(tensorflow::DataType type) {
  return type == tensorflow::DT_INT16 || type == tensorflow::DT_INT32 || type == tensorflow::DT_INT64;
}

bool FitsIndexType(const IndexRule& rule, tensorflow::DataType type, Sizes sizes) {
  if (type != tensorflow::DT_INT16) return true;
  constexpr double kLargest = std::numeric_limits<int16_t>::max();
  const int64_t rank = static_cast<int64_t>(sizes.size()), axis = AxisOf(rule, rank);
  if (rule.kind != IndexKind::kVector) return axis < 0 || axis >= rank || static_cast<double>(sizes[axis]) <= kLargest;
  double elements = 1;
  for (const int64_t size : sizes) elements *= static_cast<double>(size);
  return elements <= kLargest;
}

bool IsReportedByOp(const IndexRule& rule, int dimensions, int64_t last_size, int64_t sizes) {
  if (rule.kind == IndexKind::kVector) return dimensions == 0 || last_size > sizes;
  if (rule.kind == IndexKind::kBegin) return dimensions != 1 || 2 * last_size != sizes;
  const int64_t axis = AxisOf(rule, sizes);
  return axis < 0 || axis >= sizes || (rule.kind == IndexKind::kPermutation && dimensions != 1);
}

absl::Status CheckIndices(const IndexRule& rule, const Tensor& indices, Sizes sizes) {
  const int64_t last_size = indices.dims() == 0 ? 0 : indices.dim_size(indices.dims() - 1);
  if (indices.NumElements() == 0) return absl::OkStatus();
  if (IsReportedByOp(rule, indices.dims(), last_size, static_cast<int64_t>(sizes.size()))) return absl::OkStatus();
  switch (indices.dtype()) {
    case tensorflow::DT_INT16:
      return IndexCheck<int16_t>(rule, indices, sizes).Run();
    case tensorflow::DT_INT32:
      return IndexCheck<int32_t>(rule, indices, sizes).Run();
    default:
      return IndexCheck<int64_t>(rule, indices, sizes).Run();
  }
}

}  // namespace hpu::checks
