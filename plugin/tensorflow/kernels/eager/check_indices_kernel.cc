// HabanaCheckIndices: checks indices in host code, because compiled code cannot raise errors. HabanaIndicesInRange on
// the host, and HabanaRevertUpdate, HabanaInnerIndices and HabanaInnerValues outside clusters.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/tensorflow/device/hpu_device.h"
#include "plugin/tensorflow/kernels/eager/check_kernel.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/lib/core/errors.h"

namespace hpu {
namespace {

using tensorflow::Tensor;

// Thread safe.
template <typename Index>
class IndexCheck {
 public:
  absl::Status Initialize(tensorflow::OpKernelConstruction* construction) {
    TF_RETURN_IF_ERROR(construction->GetAttr("kind", &kind_));
    return construction->GetAttr("axis", &axis_);
  }

  void set_added_to_negative(int64_t added) { added_to_negative_ = added; }

  // `node` is the op's name, for the error text.
  absl::Status Check(const Tensor& indices, const Tensor& sizes, const std::string& node) const {
    const Shape shape = sizes.flat<int32_t>();
    const absl::Status status = kind_ == "vector"  ? CheckVectors(indices, shape)
                                : kind_ == "begin" ? CheckBegin(indices, shape)
                                                   : CheckEach(indices, shape);
    return status.ok() ? status : absl::Status(status.code(), absl::StrCat(status.message(), " (", node, ")"));
  }

 private:
  using Shape = tensorflow::TTypes<int32_t>::ConstFlat;

  absl::Status CheckEach(const Tensor& indices, const Shape& shape) const {
    const int64_t axis = axis_ < 0 ? axis_ + shape.size() : axis_;
    if (axis < 0 || axis >= shape.size()) return absl::OkStatus();  // the op itself reports an invalid axis
    const bool lengths = kind_ == "length", segments = kind_ == "segment", elements = kind_ == "element";
    if ((segments || kind_ == "slice") && HasEmptySlices(shape, axis)) return absl::OkStatus();
    const auto values = indices.flat<Index>();
    const int64_t limit = shape(axis);
    for (int64_t i = 0; i < values.size(); ++i) {
      const Index value = values(i) < 0 ? static_cast<Index>(values(i) + added_to_negative_) : values(i);
      const bool may_be_negative = segments || (elements && value >= -limit);
      if (value >= 0 ? value < limit || (lengths && value == limit) : may_be_negative) continue;
      const auto code = kind_ == "box" ? absl::StatusCode::kOutOfRange : absl::StatusCode::kInvalidArgument;
      return absl::Status(code, Text(indices, i, value, limit));
    }
    return kind_ == "permutation" ? CheckOnce(indices, limit) : absl::OkStatus();
  }

  static bool HasEmptySlices(const Shape& shape, int64_t axis) {
    for (int64_t i = 0; i < shape.size(); ++i) {
      if (i != axis && shape(i) == 0) return true;
    }
    return false;
  }

  // Formats the error like the op's CPU kernel.
  std::string Text(const Tensor& indices, int64_t i, Index value, int64_t limit) const {
    if (kind_ == "label") {
      return absl::StrCat("Received a label value of ", value, " which is outside the valid range of [0, ", limit,
                          ").  Label values: ", indices.SummarizeValue(indices.NumElements()));
    }
    if (kind_ == "segment") {
      return absl::StrCat("segment_ids", Position(indices, i), " = ", value, " is out of range [0, ", limit, ")");
    }
    if (kind_ == "box") return "box_index has values outside [0, batch_size)";
    if (kind_ == "length" && value < 0) return absl::StrCat("seq_lens(", i, ") < 0");
    if (kind_ == "length") return absl::StrCat("seq_lens(", i, ") > input.dims(", axis_, ")");
    if (kind_ == "permutation") return absl::StrCat(value, " is not between 0 and ", limit);
    if (kind_ == "element") return absl::StrCat("slice index ", value, " of dimension ", axis_, " out of bounds.");
    if (kind_ == "list_element" || kind_ == "written_element") {
      return absl::StrCat("Trying to ", kind_ == "list_element" ? "access" : "modify", " element ", value,
                          " in a list with ", limit, " elements.");
    }
    return absl::StrCat("indices", Position(indices, i), " = ", value, " is not in [0, ", limit, ")");
  }

  // TensorFlow's own text.
  // Requires values in [0, limit).
  static absl::Status CheckOnce(const Tensor& indices, int64_t limit) {
    std::vector<bool> seen(limit);
    const auto values = indices.flat<Index>();
    for (int64_t i = 0; i < values.size(); ++i) {
      if (!seen[values(i)]) {
        seen[values(i)] = true;
        continue;
      }
      return tensorflow::errors::InvalidArgument(values(i), " is duplicated in the input.");
    }
    return absl::OkStatus();
  }

  // TensorFlow's own text.
  absl::Status CheckVectors(const Tensor& indices, const Shape& shape) const {
    if (indices.dims() == 0) return absl::OkStatus();
    const int64_t length = indices.dim_size(indices.dims() - 1);
    if (length == 0 || length > shape.size()) return absl::OkStatus();
    const auto rows = indices.flat_inner_dims<Index>();
    for (int64_t row = 0; row < rows.dimension(0); ++row) {
      for (int64_t i = 0; i < length; ++i) {
        if (rows(row, i) >= 0 && rows(row, i) < shape(i)) continue;
        std::string vector;
        for (int64_t j = 0; j < length; ++j) absl::StrAppend(&vector, j > 0 ? ", " : "", rows(row, j));
        std::string dimensions;
        for (int64_t j = 0; j < shape.size(); ++j) absl::StrAppend(&dimensions, j > 0 ? "," : "", shape(j));
        return tensorflow::errors::InvalidArgument("indices[", row, "] = [", vector, "] does not index into shape [",
                                                   dimensions, "]");
      }
    }
    return absl::OkStatus();
  }

  // TensorFlow's own text.
  static absl::Status CheckBegin(const Tensor& indices, const Shape& shape) {
    const auto begin = indices.flat<Index>();
    if (shape.size() != 2 * begin.size()) return absl::OkStatus();
    for (int64_t i = 0; i < begin.size(); ++i) {
      const int64_t dimension = shape(i), size = shape(begin.size() + i), first = begin(i);
      if (first >= 0 && size >= 0 && first + size <= dimension) continue;
      if (dimension == 0) {
        return tensorflow::errors::InvalidArgument("Expected begin[", i, "] == 0 (got ", first, ") and size[", i,
                                                   "] == 0 (got ", size, ") when input.dim_size(", i, ") == 0");
      }
      if (first < 0 || first > dimension) {
        return tensorflow::errors::InvalidArgument("Expected begin[", i, "] in [0, ", dimension, "], but got ", first);
      }
      return tensorflow::errors::InvalidArgument("Expected size[", i, "] in [0, ", dimension - first, "], but got ",
                                                 size);
    }
    return absl::OkStatus();
  }

  // Position of the i-th element: "[1,2]".
  static std::string Position(const Tensor& tensor, int64_t i) {
    std::vector<int64_t> position(tensor.dims());
    for (int d = tensor.dims() - 1; d >= 0; --d) {
      position[d] = i % tensor.dim_size(d);
      i /= tensor.dim_size(d);
    }
    return position.empty() ? "" : absl::StrCat("[", absl::StrJoin(position, ","), "]");
  }

  std::string kind_;
  int64_t axis_ = 0;
  int64_t added_to_negative_ = 0;
};

// HabanaCheckIndices.
template <typename Index>
class NamedIndexCheck {
 public:
  absl::Status Initialize(tensorflow::OpKernelConstruction* construction) {
    TF_RETURN_IF_ERROR(construction->GetAttr("node", &node_));
    int64_t added = 0;
    TF_RETURN_IF_ERROR(construction->GetAttr("added_to_negative", &added));
    check_.set_added_to_negative(added);
    return check_.Initialize(construction);
  }

  absl::Status Run(absl::Span<const Tensor> inputs) const { return check_.Check(inputs[0], inputs[1], node_); }

 private:
  IndexCheck<Index> check_;
  std::string node_;
};

// Stateless except for its attributes; thread safe.
template <typename Index>
class IndicesInRangeKernel : public tensorflow::OpKernel {
 public:
  explicit IndicesInRangeKernel(tensorflow::OpKernelConstruction* construction) : OpKernel(construction) {
    OP_REQUIRES_OK(construction, check_.Initialize(construction));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    Tensor* passes = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &passes));
    passes->scalar<bool>()() = check_.Check(context->input(0), context->input(1), name()).ok();
  }

 private:
  IndexCheck<Index> check_;
};

// HabanaRevertUpdate, HabanaInnerIndices and HabanaInnerValues do nothing: on the host, an op with invalid values fails
// before the updates that depend on it.
class NoKernel : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(tensorflow::OpKernelContext*) override {}
  bool IsExpensive() override { return false; }
};

REGISTER_KERNEL_BUILDER(Name("HabanaCheckIndices").Device(tensorflow::DEVICE_CPU).TypeConstraint<int32_t>("Tindices"),
                        HostCheckKernel<NamedIndexCheck<int32_t>>);
REGISTER_KERNEL_BUILDER(Name("HabanaCheckIndices").Device(tensorflow::DEVICE_CPU).TypeConstraint<int64_t>("Tindices"),
                        HostCheckKernel<NamedIndexCheck<int64_t>>);
// Launches return int32 in host memory.
REGISTER_KERNEL_BUILDER(Name("HabanaCheckIndices")
                            .Device(kDeviceType)
                            .HostMemory("indices")
                            .HostMemory("shape")
                            .TypeConstraint<int32_t>("Tindices"),
                        DeviceCheckKernel<NamedIndexCheck<int32_t>>);
REGISTER_KERNEL_BUILDER(
    Name("HabanaCheckIndices").Device(kDeviceType).HostMemory("shape").TypeConstraint<int64_t>("Tindices"),
    DeviceCheckKernel<NamedIndexCheck<int64_t>>);
REGISTER_KERNEL_BUILDER(Name("HabanaIndicesInRange").Device(tensorflow::DEVICE_CPU).TypeConstraint<int32_t>("Tindices"),
                        IndicesInRangeKernel<int32_t>);
REGISTER_KERNEL_BUILDER(Name("HabanaIndicesInRange").Device(tensorflow::DEVICE_CPU).TypeConstraint<int64_t>("Tindices"),
                        IndicesInRangeKernel<int64_t>);
REGISTER_KERNEL_BUILDER(Name("HabanaRevertUpdate").Device(tensorflow::DEVICE_CPU), NoKernel);
REGISTER_KERNEL_BUILDER(Name("HabanaInnerIndices").Device(tensorflow::DEVICE_CPU), NoKernel);
REGISTER_KERNEL_BUILDER(Name("HabanaInnerValues").Device(tensorflow::DEVICE_CPU), NoKernel);

}  // namespace
}  // namespace hpu
