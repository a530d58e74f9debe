#include "plugin/compiler/dynamic_shapes/dynamic_windows.h"

#include <algorithm>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "plugin/base/status_macros.h"
#include "plugin/compat/lowering_values.h"
#include "plugin/compiler/dynamic_shapes/bounded_arrays.h"
#include "plugin/op_facts/op_facts.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/util/padding.h"
#include "tensorflow/core/util/tensor_format.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/slicing.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using tensorflow::OpKernel;
using tensorflow::XlaOpKernelContext;
using xla::XlaOp;

// An element of the images past their sizes, and in the padding.
enum class Padded {
  kZero,
  kLowest,  // of the type; minus infinity
  kNaN,     // zero for integers
};

enum class WindowResult { kImages, kWindows, kFilter };

// The arrays of an op over windows.
struct WindowOp {
  std::vector<int> images;   // inputs with one element for each pixel
  std::vector<int> windows;  // inputs with one element for each window
  WindowResult result = WindowResult::kWindows;
  Padded padded = Padded::kZero;  // of the first of `images`; zero for the others
  int shape = -1;                 // input with the shape of the images
  int filter = -1;                // input: an array with the window's size in the leading dimensions, or its shape
  bool is_shape = false;          // of `filter`
  const char* sizes = nullptr;    // attribute or constant input with the window's size
  const char* rates = nullptr;    // attribute with the distances between the elements of a window
  bool averages = false;
};

const WindowOp* FindWindowOp(absl::string_view op) {
  static const auto* ops = [] {
    auto* table = new absl::flat_hash_map<std::string, WindowOp>;
    for (const char* name : {"Conv2D", "Conv3D", "DepthwiseConv2dNative"}) {
      const bool is_volume = absl::StrContains(name, "3D");
      WindowOp forward;
      forward.images = {0};
      forward.filter = 1;
      forward.rates = "dilations";
      table->emplace(name, forward);
      WindowOp input = forward;
      input.images = {};
      input.windows = {2};
      input.shape = 0;
      input.result = WindowResult::kImages;
      table->emplace(absl::StrCat(name, "BackpropInput", is_volume ? "V2" : ""), input);
      WindowOp filter = forward;
      filter.windows = {2};
      filter.is_shape = true;
      filter.result = WindowResult::kFilter;
      table->emplace(absl::StrCat(name, "BackpropFilter", is_volume ? "V2" : ""), filter);
    }
    for (const char* name : {"MaxPool", "MaxPool3D"}) {
      WindowOp forward;
      forward.images = {0};
      forward.padded = Padded::kLowest;
      forward.sizes = "ksize";
      WindowOp gradient = forward;
      gradient.windows = {1, 2};
      gradient.result = WindowResult::kImages;
      WindowOp second = forward;
      second.images = {0, 2};
      second.windows = {1};
      second.padded = Padded::kNaN;  // equals no maximum
      const bool is_volume = absl::StrContains(name, "3D");
      for (const char* version : {"", "V2"}) {
        if (is_volume && *version != 0) continue;
        table->emplace(absl::StrCat(name, version), forward);
        table->emplace(absl::StrCat(name, "Grad", version), gradient);
        table->emplace(absl::StrCat(name, "GradGrad", version), second);
      }
    }
    for (const char* name : {"AvgPool", "AvgPool3D"}) {
      WindowOp forward;
      forward.images = {0};
      forward.sizes = "ksize";
      forward.averages = true;
      table->emplace(name, forward);
      WindowOp gradient = forward;
      gradient.images = {};
      gradient.windows = {1};
      gradient.shape = 0;
      gradient.result = WindowResult::kImages;
      table->emplace(absl::StrCat(name, "Grad"), gradient);
    }
    WindowOp dilation;
    dilation.images = {0};
    dilation.padded = Padded::kNaN;  // the lowering ignores NaN
    dilation.filter = 1;
    dilation.rates = "rates";
    table->emplace("Dilation2D", dilation);
    dilation.windows = {2};
    dilation.result = WindowResult::kFilter;
    table->emplace("Dilation2DBackpropFilter", dilation);
    dilation.result = WindowResult::kImages;
    table->emplace("Dilation2DBackpropInput", dilation);
    WindowOp patches;
    patches.images = {0};
    patches.sizes = "ksizes";
    patches.rates = "rates";
    table->emplace("ExtractImagePatches", patches);
    WindowOp blocks;
    blocks.images = {0};
    table->emplace("SpaceToDepth", blocks);
    table->emplace("DepthToSpace", blocks);
    WindowOp pixels;
    pixels.images = {0, 1, 2};
    table->emplace("LRNGrad", pixels);
    return table;
  }();
  const auto found = ops->find(op);
  return found == ops->end() ? nullptr : &found->second;
}

absl::Status NotSupported(const OpKernel& kernel, absl::string_view reason) {
  return absl::UnimplementedError(
      absl::StrCat(tensorflow::FormatNodeDefForError(kernel.def()), ": ", kernel.type_string(),
                   " does not support dynamic sizes here: ", reason,
                   ". Make the sizes static, for example by padding, or move the op out of the "
                   "jit_compile=True function"));
}

// Windows over one dimension of the images.
struct SlidingWindow {
  int64_t bound = 0;   // of the images
  XlaOp size;          // of the images; not valid if static
  int64_t window = 1;  // with dilation
  int64_t stride = 1;
  int64_t low = 0;  // padding EXPLICIT
  int64_t high = 0;
  int64_t upsampling = 1;  // results for each window
  bool same = false;

  bool is_dynamic() const { return size.valid(); }
  bool is_padded() const { return (same && window > 1) || low > 0 || high > 0; }
  int64_t max_before() const { return same ? (window - 1) / 2 : low; }
  // Whether the padding before the images depends on their size.
  bool shifts() const { return same && is_dynamic() && stride > 1 && max_before() > 0; }
  bool crops() const { return !same && bound + low + high > Covered(); }

  int64_t Windows() const {
    return same ? (bound + stride - 1) / stride : std::max<int64_t>(0, bound + low + high - window + stride) / stride;
  }
  // Elements that the windows cover, with the padding.
  int64_t Covered() const { return std::max<int64_t>(0, (Windows() - 1) * stride + window); }

  // The same numbers for the true size, int32. Require a dynamic dimension.
  XlaOp Number(int64_t value) const { return xla::ScalarLike(size, value); }
  XlaOp TrueWindows() const {
    if (same) return (size + Number(stride - 1)) / Number(stride);
    return xla::Max(size + Number(low + high - window + stride), Number(0)) / Number(stride);
  }
  XlaOp TrueBefore() const {
    return xla::Max((TrueWindows() - Number(1)) * Number(stride) + Number(window) - size, Number(0)) / Number(2);
  }
  // Padding before the images, if it does not depend on the size.
  int64_t Before() const {
    if (!same) return low;
    if (stride == 1) return max_before();
    return is_dynamic() ? 0 : std::max<int64_t>(0, Covered() - bound) / 2;
  }
};

// Lowers one op.
class WindowLowering {
 public:
  WindowLowering(OpKernel* lowering, OpKernel* unpadded, tensorflow::OpKernelContext* context)
      : lowering_(lowering), unpadded_(unpadded), context_(context), xla_context_(context) {}

  absl::Status Run() {
    op_ = FindWindowOp(lowering_->type_string());
    if (op_ == nullptr) return NotSupported(*lowering_, "the op has no windows");
    HPU_RETURN_IF_ERROR(ReadImages());
    HPU_RETURN_IF_ERROR(ReadWindows());
    HPU_RETURN_IF_ERROR(CheckOperands());
    StateConditions();
    const bool places = NeedsPlaces();
    if (places && unpadded_ == nullptr) return NotSupported(*lowering_, "padding SAME");
    if (places && SelectsMaxima() && !tensorflow::DataTypeIsFloating(lowering_->input_type(0))) {
      return NotSupported(*lowering_, "padded integers");
    }
    if (places && lowering_->type_string() == "Dilation2DBackpropInput") {
      // The lowering adds the gradient of a window without a maximum at the edge of the image.
      return NotSupported(*lowering_, "padding SAME with strides");
    }
    if (places && op_->averages) return Average();
    HPU_RETURN_IF_ERROR(ReplaceOperands(places));
    OpKernel* const lowering = places ? unpadded_ : lowering_;
    lowering->Compute(context_);
    replacements_.clear();
    HPU_RETURN_IF_ERROR(context_->status());
    return ReplaceResult(context_, 0, [&](XlaOp result) { return Finish(result, places); });
  }

  // For averages over static images with padding. Returns false, and lowers nothing, for other ops.
  absl::StatusOr<bool> RunPaddedAverage() {
    op_ = FindWindowOp(lowering_->type_string());
    if (op_ == nullptr || !op_->averages) return false;
    absl::Status status = ReadImages();
    if (status.ok()) status = ReadWindows();
    if (status.ok()) status = CheckOperands();
    if (absl::IsUnimplemented(status)) return false;  // XLA's lowering may support it
    HPU_RETURN_IF_ERROR(status);
    const bool is_padded = absl::c_any_of(dimensions_, [](const SlidingWindow& dimension) {
      return dimension.same && dimension.Covered() > dimension.bound;
    });
    if (!is_padded) return false;
    HPU_RETURN_IF_ERROR(Average());
    return true;
  }

 private:
  template <typename T>
  absl::StatusOr<std::vector<int64_t>> Attribute(const char* name) {
    std::vector<T> values;
    HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(lowering_->def(), name, &values));
    return std::vector<int64_t>(values.begin(), values.end());
  }

  // Numbers of an attribute or of a constant input, one for each dimension.
  absl::StatusOr<std::vector<int64_t>> Numbers(const char* name) {
    std::vector<int64_t> numbers;
    if (tensorflow::HasNodeAttr(lowering_->def(), name)) {
      HPU_ASSIGN_OR_RETURN(numbers, Attribute<int32_t>(name));
    } else {
      HPU_RETURN_IF_ERROR(xla_context_.ConstantInputAsIntVector(name, &numbers));
    }
    if (numbers.size() == dimensions_.size()) return numbers;
    return NotSupported(*lowering_, absl::StrCat(numbers.size(), " elements of ", name));
  }

  // Reads the images' bounds and sizes.
  absl::Status ReadImages() {
    xla::Shape shape;
    std::vector<XlaOp> sizes;
    if (op_->shape < 0) {
      HPU_ASSIGN_OR_RETURN(const BoundedArray images, ToBounded(xla_context_.Input(op_->images[0])));
      shape = images.shape;
      sizes = images.sizes;
    } else {
      std::vector<int64_t> bounds;
      std::vector<bool> dynamic;
      HPU_RETURN_IF_ERROR(
          xla_context_.ConstantInputAsIntVector(op_->shape, &bounds, xla::ValueInferenceMode::kUpperBound));
      HPU_RETURN_IF_ERROR(xla_context_.ResolveInputDynamismIntoPredVector(op_->shape, &dynamic));
      shape = xla::ShapeUtil::MakeShape(xla::S32, bounds);
      sizes.resize(bounds.size());
      const XlaOp numbers = xla::ConvertElementType(xla_context_.Input(op_->shape), xla::S32);
      for (size_t d = 0; d < bounds.size(); ++d) {
        if (dynamic[d]) sizes[d] = xla::Reshape(xla::SliceInDim(numbers, d, d + 1, 1, 0), {});
      }
    }
    for (int64_t d = 0; d < shape.dimensions_size(); ++d) {
      SlidingWindow& dimension = dimensions_.emplace_back();
      dimension.bound = shape.dimensions(d);
      dimension.size = sizes[d];
    }
    return absl::OkStatus();
  }

  // Reads the windows' sizes, strides and padding.
  absl::Status ReadWindows() {
    const int rank = static_cast<int>(dimensions_.size());
    if (rank < 4 || rank > 5) return NotSupported(*lowering_, absl::StrCat("a rank of ", rank));
    const tensorflow::AttrSlice attributes(lowering_->def());
    std::string format;
    if (!tensorflow::TryGetNodeAttr(attributes, "data_format", &format)) format = "NHWC";
    if (absl::StrContains(format, "VECT") || !tensorflow::FormatFromString(format, &format_)) {
      return NotSupported(*lowering_, absl::StrCat("data_format ", format));
    }
    feature_ = tensorflow::GetTensorFeatureDimIndex(rank, format_);
    for (int d = 1; d < rank; ++d) {
      if (d != feature_) spatial_.push_back(d);
    }
    int block = 1;
    if (tensorflow::TryGetNodeAttr(attributes, "block_size", &block)) {
      for (const int d : spatial_) {
        if (lowering_->type_string() == "DepthToSpace") {
          dimensions_[d].upsampling = block;
        } else {
          dimensions_[d].window = dimensions_[d].stride = block;
        }
      }
    }
    if (op_->filter < 0 && op_->sizes == nullptr) return absl::OkStatus();
    HPU_RETURN_IF_ERROR(ReadSizes());
    HPU_ASSIGN_OR_RETURN(const std::vector<int64_t> strides, Numbers("strides"));
    for (int d = 0; d < rank; ++d) dimensions_[d].stride = strides[d];
    return ReadPadding(attributes);
  }

  absl::Status ReadSizes() {
    if (op_->sizes != nullptr) {
      HPU_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, Numbers(op_->sizes));
      for (size_t d = 0; d < dimensions_.size(); ++d) dimensions_[d].window = sizes[d];
    } else {
      std::vector<int64_t> filter;
      if (op_->is_shape) {
        if (IsKnownUpToBound(&xla_context_, op_->filter)) return NotSupported(*lowering_, "a filter of dynamic size");
        HPU_RETURN_IF_ERROR(xla_context_.ConstantInputAsIntVector(op_->filter, &filter));
      } else {
        HPU_ASSIGN_OR_RETURN(const xla::Shape shape, xla_context_.InputXlaShape(op_->filter));
        if (shape.is_dynamic()) return NotSupported(*lowering_, "a filter of shape " + shape.ToString());
        filter.assign(shape.dimensions().begin(), shape.dimensions().end());
      }
      if (filter.size() < spatial_.size()) return NotSupported(*lowering_, "the filter's rank");
      for (size_t i = 0; i < spatial_.size(); ++i) dimensions_[spatial_[i]].window = filter[i];
    }
    if (op_->rates == nullptr) return absl::OkStatus();
    HPU_ASSIGN_OR_RETURN(const std::vector<int64_t> rates, Numbers(op_->rates));
    for (size_t d = 0; d < dimensions_.size(); ++d) {
      dimensions_[d].window = (dimensions_[d].window - 1) * rates[d] + 1;
    }
    return absl::OkStatus();
  }

  absl::Status ReadPadding(const tensorflow::AttrSlice& attributes) {
    tensorflow::Padding padding;
    HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(attributes, "padding", &padding));
    std::vector<int64_t> edges(2 * dimensions_.size());
    if (padding == tensorflow::EXPLICIT) {
      HPU_ASSIGN_OR_RETURN(edges, Attribute<int64_t>("explicit_paddings"));
    }
    if (edges.size() != 2 * dimensions_.size()) return NotSupported(*lowering_, "the padding");
    for (size_t d = 0; d < dimensions_.size(); ++d) {
      SlidingWindow& dimension = dimensions_[d];
      dimension.same = padding == tensorflow::SAME;
      dimension.low = edges[2 * d];
      dimension.high = edges[2 * d + 1];
      if (dimension.window <= 0 || dimension.stride <= 0) return NotSupported(*lowering_, "empty windows");
      // Larger strides also have one window only.
      dimension.stride =
          std::min(dimension.stride, dimension.bound + dimension.low + dimension.high + dimension.window);
    }
    return absl::OkStatus();
  }

  absl::Status CheckOperands() {
    const bool is_dilation = absl::StartsWith(lowering_->type_string(), "Dilation2D");
    for (int d = 0; d < static_cast<int>(dimensions_.size()); ++d) {
      const SlidingWindow& dimension = dimensions_[d];
      const bool is_spatial = absl::c_linear_search(spatial_, d);
      if (d == feature_ && dimension.is_dynamic()) return NotSupported(*lowering_, "the number of features is dynamic");
      if (!is_spatial && (dimension.window != 1 || dimension.stride != 1)) {
        return NotSupported(*lowering_, "windows over features");
      }
      if (dimension.Windows() == 0) return NotSupported(*lowering_, "images smaller than a window");
      if (op_->padded == Padded::kLowest && std::max(dimension.low, dimension.high) >= dimension.window) {
        return NotSupported(*lowering_, "windows in the padding");
      }
      if (is_dilation && dimension.is_padded() && !tensorflow::DataTypeIsFloating(lowering_->input_type(0))) {
        return NotSupported(*lowering_, "padded integers");
      }
    }
    for (const int input : op_->images) HPU_RETURN_IF_ERROR(CheckArray(input, /*has_windows=*/false));
    for (const int input : op_->windows) HPU_RETURN_IF_ERROR(CheckArray(input, /*has_windows=*/true));
    return absl::OkStatus();
  }

  // Checks the shape of an operand. Bounds may differ from those of the images or the number of windows.
  absl::Status CheckArray(int input, bool has_windows) {
    HPU_ASSIGN_OR_RETURN(const xla::Shape shape, xla_context_.InputXlaShape(input));
    bool fits = shape.dimensions_size() == static_cast<int64_t>(dimensions_.size());
    for (int64_t d = 0; d < shape.dimensions_size() && fits; ++d) {
      const SlidingWindow& dimension = dimensions_[d];
      const int64_t expected = has_windows ? dimension.Windows() : dimension.bound;
      const bool is_dynamic = shape.is_dynamic_dimension(d);
      fits = d == feature_ ? !is_dynamic : shape.dimensions(d) == expected || is_dynamic || dimension.is_dynamic();
    }
    if (fits) return absl::OkStatus();
    return NotSupported(*lowering_, absl::StrCat("the shape ", shape.ToString(), " of input ", input));
  }

  // An operand over the bounds of the images or the number of windows.
  absl::StatusOr<XlaOp> Operand(int input, bool has_windows) {
    HPU_ASSIGN_OR_RETURN(const BoundedArray operand, ToBounded(xla_context_.Input(input)));
    XlaOp array = operand.array;
    const XlaOp zero = xla::Zero(array.builder(), operand.shape.element_type());
    for (int64_t d = 0; d < operand.shape.dimensions_size(); ++d) {
      const int64_t missing =
          (has_windows ? dimensions_[d].Windows() : dimensions_[d].bound) - operand.shape.dimensions(d);
      if (d != feature_ && missing != 0) array = xla::PadInDim(array, zero, d, 0, missing);
    }
    return array;
  }

  // Sizes for which the CPU kernel would fail.
  void StateConditions() {
    for (int d = 0; d < static_cast<int>(dimensions_.size()); ++d) {
      const SlidingWindow& dimension = dimensions_[d];
      if (!dimension.is_dynamic()) continue;
      const XlaOp size = dimension.size;
      if (!dimension.same && dimension.window > 1) {
        RequireAtLaunch(xla::Ge(size, dimension.Number(dimension.window - dimension.low - dimension.high)));
      }
      if (lowering_->type_string() == "SpaceToDepth" && dimension.window > 1) {
        RequireAtLaunch(xla::Eq(xla::Rem(size, dimension.Number(dimension.window)), dimension.Number(0)));
      }
    }
    for (const int input : op_->images) StateSizes(input, /*has_windows=*/false);
    for (const int input : op_->windows) StateSizes(input, /*has_windows=*/true);
  }

  // States that the sizes of an operand are those of the images, or the numbers of windows.
  void StateSizes(int input, bool has_windows) {
    const absl::StatusOr<BoundedArray> array = ToBounded(xla_context_.Input(input));
    if (!array.ok()) return;  // the builder holds the error
    for (size_t d = 0; d < dimensions_.size(); ++d) {
      const SlidingWindow& dimension = dimensions_[d];
      if (static_cast<int>(d) == feature_ || !(dimension.is_dynamic() || array->sizes[d].valid())) continue;
      const XlaOp size = array->Size(static_cast<int64_t>(d));
      const XlaOp expected = dimension.is_dynamic()
                                 ? (has_windows ? dimension.TrueWindows() : dimension.size)
                                 : xla::ScalarLike(size, has_windows ? dimension.Windows() : dimension.bound);
      RequireAtLaunch(xla::Eq(size, expected));
    }
  }

  bool NeedsPlaces() const {
    return absl::c_any_of(dimensions_, [&](const SlidingWindow& dimension) {
      return dimension.shifts() || (op_->averages && dimension.same && dimension.window > 1);
    });
  }

  absl::Status ReplaceOperands(bool places) {
    const bool is_filter = op_->result == WindowResult::kFilter;
    xla::XlaBuilder* const builder = xla_context_.builder();
    for (const int input : op_->images) {
      HPU_ASSIGN_OR_RETURN(XlaOp array, Operand(input, /*has_windows=*/false));
      const XlaOp padded = PaddedElement(builder, xla_context_.input_xla_type(input), input == op_->images[0]);
      if (places && SelectsMaxima()) {
        HPU_ASSIGN_OR_RETURN(const xla::Shape shape, builder->GetShape(array));
        const XlaOp lowest = xla::MinFiniteValue(builder, shape.element_type());
        array = xla::Select(xla::Lt(array, lowest), xla::Broadcast(lowest, shape.dimensions()), array);
      }
      for (size_t d = 0; d < dimensions_.size(); ++d) {
        const SlidingWindow& dimension = dimensions_[d];
        if (!dimension.is_dynamic() || !(is_filter || dimension.is_padded())) continue;
        array = ReplacePast(array, dimension.size, static_cast<int64_t>(d), padded);
      }
      if (places) array = Place(array, padded);
      if (lowering_->type_string() == "SpaceToDepth") array = Crop(array);
      replacements_.emplace_back(context_, input, array);
    }
    for (const int input : op_->windows) {
      HPU_ASSIGN_OR_RETURN(XlaOp array, Operand(input, /*has_windows=*/true));
      const XlaOp zero = xla::Zero(builder, xla_context_.input_xla_type(input));
      // The maxima before the gradient need no replacement.
      const bool is_gradient = op_->result != WindowResult::kWindows && input == op_->windows.back();
      for (size_t d = 0; d < dimensions_.size(); ++d) {
        const SlidingWindow& dimension = dimensions_[d];
        if (!is_gradient || !dimension.is_dynamic()) continue;
        if (!is_filter && dimension.window == 1 && dimension.stride == 1) continue;
        array = ReplacePast(array, dimension.TrueWindows(), static_cast<int64_t>(d), zero);
      }
      replacements_.emplace_back(context_, input, array);
    }
    if (op_->shape < 0) return absl::OkStatus();
    tensorflow::Tensor shape(xla_context_.input_type(op_->shape), {static_cast<int64_t>(dimensions_.size())});
    for (size_t d = 0; d < dimensions_.size(); ++d) {
      const int64_t size = places ? dimensions_[d].Covered() : dimensions_[d].bound;
      if (shape.dtype() == tensorflow::DT_INT32) shape.flat<int32_t>()(d) = static_cast<int32_t>(size);
      if (shape.dtype() == tensorflow::DT_INT64) shape.flat<int64_t>()(d) = size;
    }
    replacements_.emplace_back(context_, op_->shape, shape);
    return absl::OkStatus();
  }

  // Whether the lowering tells the padding of images from their elements by its value, minus infinity.
  bool SelectsMaxima() const { return op_->padded == Padded::kLowest && op_->result == WindowResult::kImages; }

  XlaOp PaddedElement(xla::XlaBuilder* builder, xla::PrimitiveType type, bool is_first) const {
    if (is_first && op_->padded == Padded::kLowest) return xla::MinValue(builder, type);
    const bool is_nan = is_first && op_->padded == Padded::kNaN && xla::primitive_util::IsFloatingPointType(type);
    return is_nan ? xla::NanValue(builder, type) : xla::Zero(builder, type);
  }

  // Moves images into the array that the windows cover, with the padding before and after the images.
  XlaOp Place(XlaOp images, XlaOp padded) const {
    xla::PaddingConfig edges;
    std::vector<XlaOp> start;
    std::vector<int64_t> covered;
    for (const SlidingWindow& dimension : dimensions_) {
      xla::PaddingConfig::PaddingConfigDimension* const edge = edges.add_dimensions();
      covered.push_back(dimension.Covered());
      start.push_back(xla::ConstantR0<int32_t>(images.builder(), 0));
      if (dimension.shifts()) {
        edge->set_edge_padding_low(dimension.max_before());
        edge->set_edge_padding_high(std::max<int64_t>(0, dimension.Covered() - dimension.bound));
        start.back() = dimension.Number(dimension.max_before()) - dimension.TrueBefore();
      } else {
        edge->set_edge_padding_low(dimension.Before());
        edge->set_edge_padding_high(dimension.Covered() - dimension.Before() - dimension.bound);
      }
    }
    const XlaOp all = xla::Pad(images, padded, edges);
    return Shifts() ? xla::DynamicSlice(all, start, covered) : all;
  }

  // Inverse of Place.
  XlaOp Unplace(XlaOp placed) const {
    xla::PaddingConfig edges;
    std::vector<XlaOp> start;
    std::vector<int64_t> bounds;
    for (const SlidingWindow& dimension : dimensions_) {
      xla::PaddingConfig::PaddingConfigDimension* const edge = edges.add_dimensions();
      bounds.push_back(dimension.bound);
      start.push_back(xla::ConstantR0<int32_t>(placed.builder(), 0));
      if (dimension.shifts()) {
        edge->set_edge_padding_high(
            std::max<int64_t>(0, dimension.max_before() + dimension.bound - dimension.Covered()));
        start.back() = dimension.TrueBefore();
      } else {
        edge->set_edge_padding_low(-dimension.Before());
        edge->set_edge_padding_high(dimension.Before() + dimension.bound - dimension.Covered());
      }
    }
    const absl::StatusOr<xla::Shape> shape = placed.builder()->GetShape(placed);
    if (!shape.ok()) return placed.builder()->ReportError(shape.status());
    const XlaOp all = xla::Pad(placed, xla::Zero(placed.builder(), shape->element_type()), edges);
    return Shifts() ? xla::DynamicSlice(all, start, bounds) : all;
  }

  bool Shifts() const {
    return absl::c_any_of(dimensions_, [](const SlidingWindow& dimension) { return dimension.shifts(); });
  }

  // Removes the pixels after the last window.
  XlaOp Crop(XlaOp images) const {
    for (size_t d = 0; d < dimensions_.size(); ++d) {
      images = xla::SliceInDim(images, 0, dimensions_[d].Covered(), 1, static_cast<int64_t>(d));
    }
    return images;
  }

  // Averages over the elements of the windows inside the images, or the gradient of the averages.
  absl::Status Average() {
    const bool is_gradient = op_->result == WindowResult::kImages;
    const int input = is_gradient ? op_->windows[0] : op_->images[0];
    const xla::PrimitiveType type = xla_context_.input_xla_type(input), wide = type == xla::F64 ? xla::F64 : xla::F32;
    HPU_ASSIGN_OR_RETURN(XlaOp array, Operand(input, is_gradient));
    array = xla::ConvertElementType(array, wide);
    const XlaOp zero = xla::Zero(array.builder(), wide);
    for (size_t d = 0; d < dimensions_.size(); ++d) {
      const SlidingWindow& dimension = dimensions_[d];
      if (!dimension.is_dynamic()) continue;
      array = ReplacePast(array, is_gradient ? dimension.TrueWindows() : dimension.size, static_cast<int64_t>(d), zero);
    }
    XlaOp result;
    if (is_gradient) {
      result = Unplace(Spread(array / Counts(array), wide));
    } else {
      result = SumWindows(Place(array, zero), wide, /*strided=*/true);
      result = result / Counts(result);
    }
    xla_context_.SetOutput(0, Finish(xla::ConvertElementType(result, type), /*places=*/false));
    return array.builder()->first_error();
  }

  XlaOp SumWindows(XlaOp placed, xla::PrimitiveType type, bool strided) const {
    std::vector<int64_t> sizes, strides;
    for (const SlidingWindow& dimension : dimensions_) {
      sizes.push_back(dimension.window);
      strides.push_back(strided ? dimension.stride : 1);
    }
    return xla::ReduceWindow(placed, xla::Zero(placed.builder(), type),
                             xla::CreateScalarAddComputation(type, placed.builder()), sizes, strides,
                             xla::Padding::kValid);
  }

  // Adds the element of each window to all elements that the window covers.
  XlaOp Spread(XlaOp windows, xla::PrimitiveType type) const {
    xla::PaddingConfig edges;
    for (const SlidingWindow& dimension : dimensions_) {
      xla::PaddingConfig::PaddingConfigDimension* const edge = edges.add_dimensions();
      edge->set_edge_padding_low(dimension.window - 1);
      edge->set_interior_padding(dimension.stride - 1);
      edge->set_edge_padding_high(dimension.window - 1);
    }
    return SumWindows(xla::Pad(windows, xla::Zero(windows.builder(), type), edges), type, /*strided=*/false);
  }

  // The number of elements of each window inside the images, at least 1, in the shape and type of `windows`.
  XlaOp Counts(XlaOp windows) const {
    xla::XlaBuilder* const builder = windows.builder();
    const absl::StatusOr<xla::Shape> shape = builder->GetShape(windows);
    if (!shape.ok()) return builder->ReportError(shape.status());
    const xla::Shape indices = xla::ShapeUtil::MakeShape(xla::S32, shape->dimensions());
    const auto number = [&](int64_t value) { return xla::ConstantR0<int32_t>(builder, static_cast<int32_t>(value)); };
    XlaOp counts = xla::Broadcast(number(1), shape->dimensions());
    for (size_t d = 0; d < dimensions_.size(); ++d) {
      const SlidingWindow& dimension = dimensions_[d];
      if (dimension.window == 1) continue;
      const XlaOp before = dimension.shifts() ? dimension.TrueBefore() : number(dimension.Before());
      const XlaOp size = dimension.is_dynamic() ? dimension.size : number(dimension.bound);
      const XlaOp start = xla::Iota(builder, indices, static_cast<int64_t>(d)) * number(dimension.stride) - before;
      const XlaOp count = xla::Min(start + number(dimension.window), size) - xla::Max(start, number(0));
      counts = counts * xla::Max(count, number(1));
    }
    return xla::ConvertElementType(counts, shape->element_type());
  }

  XlaOp Finish(XlaOp result, bool places) const {
    if (op_->result == WindowResult::kFilter) return result;
    const bool is_images = op_->result == WindowResult::kImages;
    if (is_images && places) result = Unplace(result);
    for (size_t d = 0; d < dimensions_.size(); ++d) {
      const SlidingWindow& dimension = dimensions_[d];
      if (!dimension.is_dynamic()) continue;
      XlaOp size = is_images ? dimension.size : dimension.TrueWindows();
      if (dimension.upsampling > 1) size = size * dimension.Number(dimension.upsampling);
      result = xla::SetDimensionSize(result, size, static_cast<int64_t>(d));
    }
    return result;
  }

  OpKernel* const lowering_;
  OpKernel* const unpadded_;
  tensorflow::OpKernelContext* const context_;
  XlaOpKernelContext xla_context_;
  const WindowOp* op_ = nullptr;
  std::vector<SlidingWindow> dimensions_;  // of the images
  tensorflow::TensorFormat format_ = tensorflow::FORMAT_NHWC;
  int feature_ = 0;
  std::vector<int> spatial_;
  std::list<OperandReplacement> replacements_;
};

}  // namespace

std::optional<tensorflow::NodeDef> UnpaddedNode(const tensorflow::NodeDef& node) {
  std::string padding;
  if (FactsOf(node.op()).dynamic != DynamicSizes::kWindows || !tensorflow::TryGetNodeAttr(node, "padding", &padding) ||
      padding != "SAME") {
    return std::nullopt;
  }
  tensorflow::NodeDef unpadded = node;
  (*unpadded.mutable_attr())["padding"].set_s("VALID");
  (*unpadded.mutable_attr())[kPlacedWindows].set_b(true);
  return unpadded;
}

absl::StatusOr<bool> HasDynamicWindows(XlaOpKernelContext* context) {
  for (int i = 0; i < context->num_inputs(); ++i) {
    HPU_ASSIGN_OR_RETURN(const std::optional<xla::Shape> shape, ShapeOfOperandValue(context, i));
    if (shape.has_value() && shape->is_dynamic()) return true;
  }
  const WindowOp* const op = FindWindowOp(context->op_kernel().type_string());
  return op != nullptr && ((op->shape >= 0 && IsKnownUpToBound(context, op->shape)) ||
                           (op->is_shape && IsKnownUpToBound(context, op->filter)));
}

absl::StatusOr<bool> LowerPaddedAverage(OpKernel* lowering, tensorflow::OpKernelContext* context) {
  return WindowLowering(lowering, /*unpadded=*/nullptr, context).RunPaddedAverage();
}

absl::Status LowerWindows(OpKernel* lowering, OpKernel* unpadded, tensorflow::OpKernelContext* context) {
  return WindowLowering(lowering, unpadded, context).Run();
}

}  // namespace hpu
