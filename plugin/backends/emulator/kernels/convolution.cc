#include "plugin/backends/emulator/kernels/convolution.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/backends/emulator/kernels/one_dnn.h"
#include "plugin/backends/emulator/kernels/tensorflow_kernel.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/version/contact.h"

namespace hpu::emulator {
namespace {

using Kind = Convolution::Kind;
using Type = Convolution::Type;

constexpr char kConvolutionName[] = "convolution.6";

// Number of input elements that a window spans.
int64_t Reach(const Convolution::Dimension& d) { return (d.window - 1) * d.dilation + 1; }

bool FitsConvolution(const Convolution::Dimension& d) {
  return std::min({d.input, d.output, d.window, d.stride, d.dilation}) > 0 && d.pad_low >= 0 && d.pad_high >= 0 &&
         d.input + d.pad_low + d.pad_high >= Reach(d) &&
         (d.input + d.pad_low + d.pad_high - Reach(d)) / d.stride + 1 == d.output;
}

// TensorFlow's "SAME": the padding that ceil(input / stride) results need; an odd element goes to the end.
bool IsSame(const Convolution::Dimension& d) {
  if ((d.input + d.stride - 1) / d.stride != d.output) return false;
  const int64_t padding = std::max<int64_t>(0, (d.output - 1) * d.stride + Reach(d) - d.input);
  return d.pad_low == padding / 2 && d.pad_high == padding - padding / 2;
}

bool IsValid(const Convolution::Dimension& d) { return d.pad_low == 0 && d.pad_high == 0; }

std::vector<int64_t> Shape(int64_t first, const std::vector<Convolution::Dimension>& dimensions,
                           int64_t Convolution::Dimension::*size, int64_t last) {
  std::vector<int64_t> shape = {first};
  for (const Convolution::Dimension& dimension : dimensions) shape.push_back(dimension.*size);
  shape.push_back(last);
  return shape;
}

std::vector<int64_t> FilterShape(const Convolution& c) {
  std::vector<int64_t> shape;
  for (const Convolution::Dimension& dimension : c.dimensions) shape.push_back(dimension.window);
  shape.push_back(c.depthwise() ? c.input_features : c.input_features / c.groups);
  shape.push_back(c.depthwise() ? c.output_features / c.groups : c.output_features);
  return shape;
}

void SetList(tensorflow::NodeDef* node, const char* name, const std::vector<int64_t>& values) {
  auto* list = (*node->mutable_attr())[name].mutable_list();
  for (int64_t value : values) list->add_i(value);
}

// Prefers "SAME" and "VALID" to explicit padding, which some ops do not support.
void SetPadding(tensorflow::NodeDef* node, const std::vector<Convolution::Dimension>& dimensions) {
  auto& padding = (*node->mutable_attr())["padding"];
  if (std::all_of(dimensions.begin(), dimensions.end(), IsValid)) return padding.set_s("VALID");
  if (std::all_of(dimensions.begin(), dimensions.end(), IsSame)) return padding.set_s("SAME");
  padding.set_s("EXPLICIT");
  std::vector<int64_t> explicit_padding = {0, 0};
  for (const Convolution::Dimension& dimension : dimensions) {
    explicit_padding.insert(explicit_padding.end(), {dimension.pad_low, dimension.pad_high});
  }
  explicit_padding.insert(explicit_padding.end(), {0, 0});
  SetList(node, "explicit_paddings", explicit_padding);
}

std::string OpName(const Convolution& c) {
  const bool three = c.dimensions.size() == 3;
  std::string name = three ? "Conv3D" : c.depthwise() ? "DepthwiseConv2dNative" : "Conv2D";
  if (c.bias) return "Fused" + name;
  if (c.kind == Kind::kForward) return name;
  name += c.kind == Kind::kInputGradient ? "BackpropInput" : "BackpropFilter";
  return three ? name + "V2" : name;
}

void AddBias(tensorflow::NodeDef* node, tensorflow::DataType dtype) {
  auto& attributes = *node->mutable_attr();
  attributes["num_args"].set_i(1);
  attributes["TArgs"].mutable_list()->add_type(dtype);
  attributes["fused_ops"].mutable_list()->add_s("BiasAdd");
}

tensorflow::DataType DataTypeOf(Type type) {
  switch (type) {
    case Type::kFloat32:
      return tensorflow::DT_FLOAT;
    case Type::kBfloat16:
      return tensorflow::DT_BFLOAT16;
    case Type::kFloat64:
      return tensorflow::DT_DOUBLE;
  }
}

// Whether oneDNN reads other elements than those of the window: oneDNN 3.7 if each row has one result, and also oneDNN
// 3.2 if a row of the window fills vectors, but a pixel does not.
bool IsWrongInOneDnn(const Convolution& c) {
  constexpr int64_t kVector = 32;  // elements of bfloat16
  const Convolution::Dimension& last = c.dimensions.back();
  if (c.kind != Kind::kForward || c.depthwise() || last.window == 1) return false;
  const bool bfloat16 = c.type == Type::kBfloat16;
  const int64_t features = c.input_features / c.groups, row = last.window * features;
  if (last.output == 1 && last.stride > 1) return bfloat16 || features == 1;
  return bfloat16 && features % kVector != 0 && row % kVector == 0 && row > kVector;
}

// Unimplemented if TensorFlow's kernel would accept the call, but then fail, be slow or compute something else.
absl::Status CheckKernel(const Convolution& c) {
  const bool one_dnn = c.UsesOneDnn(), three = c.dimensions.size() == 3;
  const char* lacking = nullptr;
  if (c.type == Type::kBfloat16 && !one_dnn) lacking = "bfloat16 with sums in float32";
  if (three && c.groups > 1) lacking = "groups in three dimensions";
  // oneDNN does not write the result.
  if (three && c.type == Type::kBfloat16 && c.dimensions[0].input < c.dimensions[0].window) {
    lacking = "bfloat16 images whose depth is smaller than the window";
  }
  if (one_dnn && IsWrongInOneDnn(c)) lacking = "windows of this width and number of features";
  if (three && !c.HasNamedPadding()) lacking = "padding other than SAME and VALID in three dimensions";
  if (!one_dnn) {
    if (c.bias) lacking = "a bias";
    if (c.constant_filter) lacking = "packed filters";
    if (c.dilated() && (three || c.depthwise())) lacking = "dilations";
  }
  if (c.kind != Kind::kForward) {
    // oneDNN's kernels fail for this padding; TensorFlow's other kernels are slow or wrong.
    if (!c.HasNamedPadding()) lacking = "a gradient with padding other than SAME and VALID";
    if (c.groups > 1 && !c.depthwise() && !one_dnn) lacking = "a gradient with groups";
  }
  return lacking == nullptr
             ? absl::OkStatus()
             : absl::UnimplementedError(absl::StrCat("TensorFlow's ", OpName(c), " does not support ", lacking));
}

absl::StatusOr<std::unique_ptr<const Kernel>> MakeConvolution(absl::Span<const int64_t> parameters) {
  HPU_ASSIGN_OR_RETURN(const Convolution c, Convolution::Parse(parameters));
  HPU_RETURN_IF_ERROR(CheckKernel(c));
  const tensorflow::DataType dtype = DataTypeOf(c.type);
  tensorflow::NodeDef node = NativeNode(OpName(c), dtype);
  if (c.bias) AddBias(&node, dtype);
  if (c.constant_filter) (*node.mutable_attr())["is_filter_const"].set_b(true);
  SetPadding(&node, c.dimensions);
  SetList(&node, "strides", Shape(1, c.dimensions, &Convolution::Dimension::stride, 1));
  SetList(&node, "dilations", Shape(1, c.dimensions, &Convolution::Dimension::dilation, 1));
  const std::vector<int64_t> image = Shape(c.batch, c.dimensions, &Convolution::Dimension::input, c.input_features);
  const std::vector<int64_t> result = Shape(c.batch, c.dimensions, &Convolution::Dimension::output, c.output_features);
  const std::vector<int64_t> filter = FilterShape(c);
  const auto operand = [dtype](int index, const std::vector<int64_t>& dims) {
    return TensorFlowKernel::Operand(index, dtype, dims);
  };
  switch (c.kind) {
    case Kind::kForward: {
      std::vector<TensorFlowKernel::Input> inputs = {operand(0, image), operand(1, filter)};
      if (c.bias) inputs.push_back(operand(2, {c.output_features}));
      return TensorFlowKernel::Make(std::move(node), std::move(inputs), dtype, result);
    }
    case Kind::kInputGradient:
      return TensorFlowKernel::Make(
          std::move(node), {TensorFlowKernel::Constant(image), operand(1, filter), operand(0, result)}, dtype, image);
    case Kind::kFilterGradient:
      return TensorFlowKernel::Make(
          std::move(node), {operand(0, image), TensorFlowKernel::Constant(filter), operand(1, result)}, dtype, filter);
  }
  return absl::InternalError(
      absl::StrCat("unknown kind of convolution: ", static_cast<int64_t>(c.kind), "; " HPU_REPORT_BUG));
}

const bool convolution_registered = RegisterKernel(kConvolutionName, MakeConvolution);

}  // namespace

absl::Status Convolution::Check() const {
  const bool fits = std::min({batch, input_features, output_features, groups}) > 0 && input_features % groups == 0 &&
                    output_features % groups == 0 && (dimensions.size() == 2 || dimensions.size() == 3) &&
                    std::all_of(dimensions.begin(), dimensions.end(), FitsConvolution) &&
                    (!(bias || constant_filter) || (kind == Kind::kForward && dimensions.size() == 2 && !depthwise()));
  return fits ? absl::OkStatus()
              : absl::InvalidArgumentError(
                    "invalid convolution: expected positive sizes, features divisible by groups, and 2 or 3 dimensions "
                    "whose output matches input, window and padding; bias and constant_filter require a forward "
                    "convolution in 2 dimensions that is not depthwise");
}

bool Convolution::dilated() const {
  return std::any_of(dimensions.begin(), dimensions.end(),
                     [](const Convolution::Dimension& d) { return d.dilation != 1; });
}

bool Convolution::depthwise() const {
  return groups > 1 && groups == input_features && (kind == Kind::kForward || !dilated());
}

bool Convolution::HasNamedPadding() const {
  return std::all_of(dimensions.begin(), dimensions.end(), IsValid) ||
         std::all_of(dimensions.begin(), dimensions.end(), IsSame);
}

bool Convolution::UsesOneDnn() const {
  return type != Type::kFloat64 && emulator::UsesOneDnn(OpName(*this), type == Type::kBfloat16);
}

KernelSpec Convolution::Spec() const {
  KernelSpec spec{kConvolutionName,
                  {static_cast<int64_t>(kind), bias, static_cast<int64_t>(type), constant_filter, batch, input_features,
                   output_features, groups}};
  for (const Convolution::Dimension& d : dimensions) {
    spec.parameters.insert(spec.parameters.end(),
                           {d.input, d.output, d.window, d.stride, d.dilation, d.pad_low, d.pad_high});
  }
  return spec;
}

absl::StatusOr<Convolution> Convolution::Parse(absl::Span<const int64_t> parameters) {
  constexpr size_t kHead = 8, kEach = 7;
  if (parameters.size() < kHead || (parameters.size() - kHead) % kEach != 0 || parameters[0] < 0 ||
      parameters[0] > static_cast<int64_t>(Kind::kFilterGradient) || parameters[1] >> 1 != 0 || parameters[2] < 0 ||
      parameters[2] > static_cast<int64_t>(Type::kFloat64) || parameters[3] >> 1 != 0) {
    return absl::InvalidArgumentError(
        "expected kind (0: forward, 1: input gradient, 2: filter gradient), bias (0 or 1), type (0: float32, 1: "
        "bfloat16, 2: float64), constant_filter (0 or 1), batch, input_features, output_features and groups, then "
        "input, output, window, stride, dilation, "
        "pad_low and pad_high of each dimension");
  }
  Convolution c;
  c.kind = static_cast<Kind>(parameters[0]);
  c.bias = parameters[1] != 0;
  c.type = static_cast<Type>(parameters[2]);
  c.constant_filter = parameters[3] != 0;
  c.batch = parameters[4];
  c.input_features = parameters[5];
  c.output_features = parameters[6];
  c.groups = parameters[7];
  for (auto rest = parameters.subspan(kHead); !rest.empty(); rest = rest.subspan(kEach)) {
    c.dimensions.push_back({rest[0], rest[1], rest[2], rest[3], rest[4], rest[5], rest[6]});
  }
  HPU_RETURN_IF_ERROR(c.Check());
  return c;
}

}  // namespace hpu::emulator
