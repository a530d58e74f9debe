#include "plugin/backends/gaudi/lowerings/composites.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/gaudi/lowerings/control_flow.h"
#include "plugin/backends/gaudi/lowerings/indexing.h"
#include "plugin/backends/gaudi/lowerings/lowerings.h"
#include "plugin/backends/gaudi/plan/element_types.h"
#include "plugin/backends/gaudi/plan/nodes.h"
#include "plugin/backends/gaudi/plan/wide_integers.h"
#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/base/status_macros.h"
#include "plugin/program/marked_call.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hpu::gaudi {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr char kCustomCallTarget[] = "hpu_composite";

// An operation of a marked call and its attributes.
struct Operation {
  std::string name;
  std::string attributes;
};

Operation ParseOperation(absl::string_view text) {
  const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits(' ', 1));
  return {parts.first, parts.second};
}

// Checks of a marked call's operands and shapes, because any call may have the mark.
class CallCheck {
 public:
  CallCheck(const HloInstruction& call, const PlanTarget& target) : call_(call), builder_(target) {}

  bool HasOperands(int64_t count) const { return call_.operand_count() == count; }
  const xla::Shape& operand(int64_t index) const { return call_.operand(index)->shape(); }
  bool IsLike(int64_t operand_index, const xla::Shape& shape) const {
    return xla::ShapeUtil::Compatible(operand(operand_index), shape);
  }
  bool IsVector(int64_t operand_index, xla::PrimitiveType type, int64_t size) const {
    return IsLike(operand_index, xla::ShapeUtil::MakeShape(type, {size}));
  }
  // Whether the result has the shape, and the kernel `stem` is usable and takes the shape's elements.
  bool Computes(absl::string_view stem, const xla::Shape& shape) const {
    return xla::ShapeUtil::Compatible(call_.shape(), shape) && Has(stem, shape);
  }
  bool Has(absl::string_view stem, const xla::Shape& shape) const {
    if (!shape.IsArray() || shape.dimensions_size() == 0 || xla::ShapeUtil::IsZeroElementArray(shape)) return false;
    const absl::StatusOr<synapse::synDataType> type = SynapseType(shape.element_type(), builder_.generation());
    return type.ok() && IsFloat(*type) && builder_.Has(stem, *type);
  }
  bool HasResults(const std::vector<xla::Shape>& shapes) const {
    return xla::ShapeUtil::Compatible(call_.shape(), xla::ShapeUtil::MakeTupleShape(shapes));
  }

 private:
  const HloInstruction& call_;
  const PlanBuilder builder_;
};

// x as rows along HLO's last dimension, {columns, rows}.
absl::StatusOr<TensorId> AsRows(PlanBuilder& builder, TensorId x) {
  const Sizes sizes = builder.sizes(x);
  return Reshape(builder, x, {sizes[0], ElementCount(sizes) / sizes[0]});
}

// The kernel of a function of kUnary; empty for other functions.
absl::string_view UnaryKernelOf(absl::string_view function) {
  if (function == "erf") return "erf_fwd";
  if (function == "erfc") return "erfc_fwd";
  if (function == "erf_inv") return "erfinv_fwd";
  if (function == "lgamma") return "gammaln_fwd";
  if (function == "sinh") return "sinh_fwd";
  return "";
}

// Whether the sizes are known. Dynamic ones become masks once the call is inlined.
bool IsStatic(const HloInstruction& call) {
  return call.shape().is_static() &&
         absl::c_all_of(call.operands(), [](const HloInstruction* operand) { return operand->shape().is_static(); });
}

bool AcceptsUnary(const CallCheck& call, const std::string& function) {
  const absl::string_view kernel = UnaryKernelOf(function);
  return !kernel.empty() && call.HasOperands(1) && call.Computes(kernel, call.operand(0));
}

absl::Status LowerUnary(Lowering& lowering, const HloInstruction& instruction, const std::string& function) {
  HPU_ASSIGN_OR_RETURN(const TensorId x, lowering.Operand(instruction, 0));
  HPU_ASSIGN_OR_RETURN(const TensorId y, Elementwise(lowering.builder(), UnaryKernelOf(function), {x}));
  lowering.Set(instruction, y);
  return absl::OkStatus();
}

// Lowers a softmax or its gradient. The operands have the shape of the result.
absl::Status LowerAlongRows(Lowering& lowering, const HloInstruction& instruction, absl::string_view stem,
                            std::vector<TensorId> operands) {
  PlanBuilder& builder = lowering.builder();
  const Sizes sizes = builder.sizes(operands.front());
  for (TensorId& operand : operands) {
    HPU_ASSIGN_OR_RETURN(operand, AsRows(builder, operand));
  }
  const TensorType type = builder.tensor_type(operands.front());
  synapse::ns_Softmax::Params params = {};
  params.dim = 0;
  HPU_ASSIGN_OR_RETURN(TensorId y, builder.AddTyped(stem, type.type, std::move(operands), type, ParamsBytes(params)));
  HPU_ASSIGN_OR_RETURN(y, Reshape(builder, y, sizes));
  lowering.Set(instruction, y);
  return absl::OkStatus();
}

template <bool is_log>
bool AcceptsSoftmax(const CallCheck& call, const std::string&) {
  return call.HasOperands(1) && call.Computes(is_log ? "logsoftmax_fwd" : "softmax_fwd", call.operand(0));
}

template <bool is_log>
absl::Status LowerSoftmax(Lowering& lowering, const HloInstruction& instruction, const std::string&) {
  HPU_ASSIGN_OR_RETURN(const TensorId x, lowering.Operand(instruction, 0));
  return LowerAlongRows(lowering, instruction, is_log ? "logsoftmax_fwd" : "softmax_fwd", {x});
}

template <bool is_log>
bool AcceptsSoftmaxGradient(const CallCheck& call, const std::string&) {
  return call.HasOperands(2) && call.IsLike(0, call.operand(1)) &&
         call.Computes(is_log ? "logsoftmax_bwd" : "softmax_bwd", call.operand(1));
}

template <bool is_log>
absl::Status LowerSoftmaxGradient(Lowering& lowering, const HloInstruction& instruction, const std::string&) {
  HPU_ASSIGN_OR_RETURN(const TensorId dy, lowering.Operand(instruction, 0));
  HPU_ASSIGN_OR_RETURN(const TensorId y, lowering.Operand(instruction, 1));
  return LowerAlongRows(lowering, instruction, is_log ? "logsoftmax_bwd" : "softmax_bwd", {y, dy});
}

bool AcceptsCrossEntropy(const CallCheck& call, const std::string&) {
  if (!call.HasOperands(2) || !call.operand(0).IsArray() || call.operand(0).dimensions_size() != 2) return false;
  const xla::Shape& logits = call.operand(0);
  return call.IsVector(1, xla::S32, logits.dimensions(0)) &&
         call.HasResults({xla::ShapeUtil::MakeShape(logits.element_type(), {logits.dimensions(0)}), logits}) &&
         call.Has("softmax_cross_entropy_fwd", logits) && call.Has("softmax_cross_entropy_bwd", logits);
}

absl::Status LowerCrossEntropy(Lowering& lowering, const HloInstruction& instruction, const std::string&) {
  namespace entropy = synapse::ns_SoftmaxCrossEntropy;
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(const TensorId logits, lowering.Operand(instruction, 0));
  HPU_ASSIGN_OR_RETURN(const TensorId labels, lowering.Operand(instruction, 1));
  const TensorType type = builder.tensor_type(logits);
  const uint64_t rows = type.sizes[1];
  const auto last = static_cast<int64_t>(type.sizes[0]) - 1;
  // Kernels fail for labels out of range.
  HPU_ASSIGN_OR_RETURN(const TensorId is_class, IsIndex(builder, labels, last));
  HPU_ASSIGN_OR_RETURN(const TensorId classes, ClampIndex(builder, labels, last));
  entropy::Params params = {};
  params.mode = entropy::CROSS_ENTROPY_MODE_NO_REDUCTION;
  params.batchSize = static_cast<int32_t>(rows);
  HPU_ASSIGN_OR_RETURN(const std::vector<TensorId> forward,
                       builder.AddNode(GuidOf("softmax_cross_entropy_fwd", type.type), {logits, classes},
                                       {{type.type, {rows}}, type}, ParamsBytes(params)));
  params.mode = entropy::CROSS_ENTROPY_MODE_SUM;
  HPU_ASSIGN_OR_RETURN(const TensorId gradient, builder.AddTyped("softmax_cross_entropy_bwd", type.type,
                                                                 {forward[1], classes}, type, ParamsBytes(params)));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  HPU_ASSIGN_OR_RETURN(const TensorId no_loss, ScalarLike(builder, forward[0], nan));
  HPU_ASSIGN_OR_RETURN(const TensorId loss, Where(builder, is_class, forward[0], no_loss));
  HPU_ASSIGN_OR_RETURN(const TensorId no_gradient, ScalarLike(builder, gradient, nan));
  HPU_ASSIGN_OR_RETURN(const TensorId is_class_of_row, Reshape(builder, is_class, {1, rows}));
  HPU_ASSIGN_OR_RETURN(const TensorId dlogits, Where(builder, is_class_of_row, gradient, no_gradient));
  lowering.SetTuple(instruction, {loss, dlogits});
  return absl::OkStatus();
}

bool IsGeluForm(const std::string& form) { return form == "exact" || form == "tanh"; }

// gelu_fwd. The second result is the hyperbolic tangent that gelu_bwd reads.
absl::StatusOr<std::vector<TensorId>> AddGelu(PlanBuilder& builder, TensorId x, bool is_approximation) {
  synapse::ns_GeluKernel::Params params = {};
  params.approximation = is_approximation;
  const TensorType type = builder.tensor_type(x);
  return builder.AddNode(GuidOf("gelu_fwd", type.type), {x}, {type, type}, ParamsBytes(params));
}

bool AcceptsGelu(const CallCheck& call, const std::string& form) {
  return IsGeluForm(form) && call.HasOperands(1) && call.Computes("gelu_fwd", call.operand(0));
}

absl::Status LowerGelu(Lowering& lowering, const HloInstruction& instruction, const std::string& form) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(TensorId x, lowering.Operand(instruction, 0));
  const Sizes sizes = builder.sizes(x);
  HPU_ASSIGN_OR_RETURN(x, AsRows(builder, x));
  HPU_ASSIGN_OR_RETURN(const std::vector<TensorId> results, AddGelu(builder, x, form == "tanh"));
  HPU_ASSIGN_OR_RETURN(const TensorId y, Reshape(builder, results[0], sizes));
  lowering.Set(instruction, y);
  return absl::OkStatus();
}

// gelu_bwd is the gradient of the tanh form only.
bool AcceptsGeluGradient(const CallCheck& call, const std::string& form) {
  return form == "tanh" && call.HasOperands(2) && call.IsLike(0, call.operand(1)) &&
         call.Has("gelu_fwd", call.operand(1)) && call.Computes("gelu_bwd", call.operand(1));
}

absl::Status LowerGeluGradient(Lowering& lowering, const HloInstruction& instruction, const std::string&) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(TensorId dy, lowering.Operand(instruction, 0));
  HPU_ASSIGN_OR_RETURN(TensorId x, lowering.Operand(instruction, 1));
  const Sizes sizes = builder.sizes(x);
  HPU_ASSIGN_OR_RETURN(dy, AsRows(builder, dy));
  HPU_ASSIGN_OR_RETURN(x, AsRows(builder, x));
  HPU_ASSIGN_OR_RETURN(const std::vector<TensorId> forward, AddGelu(builder, x, /*is_approximation=*/true));
  const TensorType type = builder.tensor_type(x);
  HPU_ASSIGN_OR_RETURN(TensorId dx, builder.AddTyped("gelu_bwd", type.type, {dy, x, forward[1]}, type));
  HPU_ASSIGN_OR_RETURN(dx, Reshape(builder, dx, sizes));
  lowering.Set(instruction, dx);
  return absl::OkStatus();
}

bool IsEpsilon(const std::string& text) {
  float epsilon = 0;
  return absl::SimpleAtof(text, &epsilon) && std::isfinite(epsilon);
}

std::string LayerNormParams(const std::string& epsilon) {
  synapse::ns_LayerNormKernel::Params params = {};
  params.epsValid = absl::SimpleAtof(epsilon, &params.eps);
  return ParamsBytes(params);
}

// The shape of the moments of rows of x.
xla::Shape MomentsShape(const xla::Shape& x) {
  return xla::ShapeUtil::MakeShape(xla::F32, x.dimensions().subspan(0, x.dimensions_size() - 1));
}

bool AcceptsLayerNorm(const CallCheck& call, const std::string& epsilon) {
  if (!IsEpsilon(epsilon) || !call.HasOperands(3) || !call.Has("layer_norm_fwd", call.operand(0))) return false;
  const xla::Shape& x = call.operand(0);
  const int64_t size = x.dimensions(x.dimensions_size() - 1);
  const xla::Shape moments = MomentsShape(x);
  return call.IsVector(1, xla::F32, size) && call.IsVector(2, xla::F32, size) && call.HasResults({x, moments, moments});
}

// An array of rows as the kernels take it, {columns, 1, 1, rows}. Moments have 1 column.
absl::StatusOr<TensorId> AsImage(PlanBuilder& builder, TensorId x, uint64_t columns) {
  return Reshape(builder, x, {columns, 1, 1, ElementCount(builder.sizes(x)) / columns});
}

absl::Status LowerLayerNorm(Lowering& lowering, const HloInstruction& instruction, const std::string& epsilon) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(TensorId x, lowering.Operand(instruction, 0));
  HPU_ASSIGN_OR_RETURN(const TensorId beta, lowering.Operand(instruction, 1));
  HPU_ASSIGN_OR_RETURN(const TensorId gamma, lowering.Operand(instruction, 2));
  HPU_ASSIGN_OR_RETURN(x, AsImage(builder, x, builder.sizes(x)[0]));
  const TensorType type = builder.tensor_type(x);
  const TensorType moments = {synapse::syn_type_float, {1, 1, 1, type.sizes[3]}};
  HPU_ASSIGN_OR_RETURN(std::vector<TensorId> results,
                       builder.AddNode(GuidOf("layer_norm_fwd", type.type), {x, beta, gamma}, {type, moments, moments},
                                       LayerNormParams(epsilon)));
  for (size_t i = 0; i < results.size(); ++i) {
    HPU_ASSIGN_OR_RETURN(results[i],
                         Reshape(builder, results[i], SizesOf(instruction.shape().tuple_shapes(static_cast<int>(i)))));
  }
  lowering.SetTuple(instruction, std::move(results));
  return absl::OkStatus();
}

bool AcceptsLayerNormGradient(const CallCheck& call, const std::string& epsilon) {
  if (!IsEpsilon(epsilon) || !call.HasOperands(5) || !call.Has("layer_norm_bwd", call.operand(0))) return false;
  const xla::Shape& x = call.operand(0);
  const int64_t size = x.dimensions(x.dimensions_size() - 1);
  const xla::Shape vector = xla::ShapeUtil::MakeShape(xla::F32, {size});
  const xla::Shape moments = MomentsShape(x);
  return call.IsLike(1, x) && call.IsLike(2, moments) && call.IsLike(3, moments) && call.IsLike(4, vector) &&
         call.HasResults({x, vector, vector});
}

absl::Status LowerLayerNormGradient(Lowering& lowering, const HloInstruction& instruction, const std::string& epsilon) {
  PlanBuilder& builder = lowering.builder();
  std::vector<TensorId> operands;
  for (int64_t i = 0; i < 5; ++i) {
    HPU_ASSIGN_OR_RETURN(TensorId operand, lowering.Operand(instruction, i));
    if (i < 4) {
      HPU_ASSIGN_OR_RETURN(operand, AsImage(builder, operand, i < 2 ? builder.sizes(operand)[0] : 1));
    }
    operands.push_back(operand);
  }
  const TensorType type = builder.tensor_type(operands[0]);
  const TensorType vector = {synapse::syn_type_float, {type.sizes[0]}};
  HPU_ASSIGN_OR_RETURN(std::vector<TensorId> results,
                       builder.AddNode(GuidOf("layer_norm_bwd", type.type), std::move(operands), {type, vector, vector},
                                       LayerNormParams(epsilon)));
  HPU_ASSIGN_OR_RETURN(results[0], Reshape(builder, results[0], SizesOf(instruction.shape().tuple_shapes(0))));
  lowering.SetTuple(instruction, std::move(results));
  return absl::OkStatus();
}

absl::string_view RandomKernelOf(absl::string_view distribution) {
  if (distribution == "uniform") return "random_uniform_fwd";
  if (distribution == "normal") return "random_normal_fwd";
  return "";
}

// Does not check the kernel: the lowering's error says what is missing.
bool AcceptsRandom(const CallCheck& call, const std::string& distribution) {
  return !RandomKernelOf(distribution).empty() && call.HasOperands(2) && call.IsVector(0, xla::U64, 1) &&
         call.IsVector(1, xla::U64, 2);
}

// Mixes the key and the counter into a seed, i32 {1}: multiplies each word by a different odd number, and combines the
// products by exclusive or.
absl::StatusOr<TensorId> SeedOf(PlanBuilder& builder, TensorId key, TensorId counter) {
  constexpr int32_t kFactors[] = {-1640531535, -2048144777, -1028477379, 668265263, 374761393, 1597334677};
  std::vector<TensorId> words;
  for (const TensorId wide : {key, counter}) {
    HPU_ASSIGN_OR_RETURN(const Halves halves, Split(builder, wide));
    for (const TensorId half : {halves.low, halves.high}) {
      HPU_ASSIGN_OR_RETURN(const TensorId full, Broadcast(builder, half, builder.sizes(wide)));
      for (uint64_t i = 0; i < builder.sizes(wide)[0]; ++i) {
        HPU_ASSIGN_OR_RETURN(const TensorId word, Slice(builder, full, {i}, {i + 1}, {1}));
        words.push_back(word);
      }
    }
  }
  TensorId seed = kNoTensor;
  for (size_t i = 0; i < words.size(); ++i) {
    HPU_ASSIGN_OR_RETURN(TensorId word, MultiplyNumber(builder, words[i], kFactors[i]));
    if (seed != kNoTensor) {
      HPU_ASSIGN_OR_RETURN(word, Elementwise(builder, "bitwise_xor_fwd", {seed, word}));
    }
    seed = word;
  }
  return seed;
}

absl::Status LowerRandom(Lowering& lowering, const HloInstruction& instruction, const std::string& distribution) {
  PlanBuilder& builder = lowering.builder();
  const absl::string_view stem = RandomKernelOf(distribution);
  HPU_ASSIGN_OR_RETURN(const TensorType type, lowering.TypeOf(instruction));
  if (!builder.Has(stem, type.type)) {
    return absl::UnimplementedError(absl::StrCat(
        "HPU_GAUDI_RANDOM is card, but the kernel ", GuidOf(stem, type.type),
        " is uncertain; set HPU_GAUDI_UNPROVEN=1 to allow it, or HPU_GAUDI_RANDOM=exact for TensorFlow's numbers"));
  }
  HPU_ASSIGN_OR_RETURN(const TensorId key, lowering.Operand(instruction, 0));
  HPU_ASSIGN_OR_RETURN(const TensorId counter, lowering.Operand(instruction, 1));
  HPU_ASSIGN_OR_RETURN(const TensorId seed, SeedOf(builder, key, counter));
  std::string params;
  if (distribution == "uniform") {
    synapse::ns_RandomUniform::Params uniform = {};
    uniform.high = 1;
    params = ParamsBytes(uniform);
  } else {
    synapse::ns_RandomNormal::Params normal = {};
    normal.stddev = 1;
    params = ParamsBytes(normal);
  }
  HPU_ASSIGN_OR_RETURN(TensorId y, builder.AddTyped(stem, type.type, {seed}, {type.type, {ElementCount(type.sizes)}},
                                                    std::move(params)));
  HPU_ASSIGN_OR_RETURN(y, Reshape(builder, y, type.sizes));
  lowering.Set(instruction, y);
  return absl::OkStatus();
}

struct Composite {
  absl::string_view operation;
  bool (*accepts)(const CallCheck& call, const std::string& attributes);
  absl::Status (*lower)(Lowering& lowering, const HloInstruction& instruction, const std::string& attributes);
};

constexpr Composite kComposites[] = {
    {kUnary, AcceptsUnary, LowerUnary},
    {kSoftmax, AcceptsSoftmax<false>, LowerSoftmax<false>},
    {kLogSoftmax, AcceptsSoftmax<true>, LowerSoftmax<true>},
    {kSoftmaxGradient, AcceptsSoftmaxGradient<false>, LowerSoftmaxGradient<false>},
    {kLogSoftmaxGradient, AcceptsSoftmaxGradient<true>, LowerSoftmaxGradient<true>},
    {kSparseCrossEntropy, AcceptsCrossEntropy, LowerCrossEntropy},
    {kGelu, AcceptsGelu, LowerGelu},
    {kGeluGradient, AcceptsGeluGradient, LowerGeluGradient},
    {kLayerNorm, AcceptsLayerNorm, LowerLayerNorm},
    {kLayerNormGradient, AcceptsLayerNormGradient, LowerLayerNormGradient},
    {kRandom, AcceptsRandom, LowerRandom},
};

const Composite* FindComposite(absl::string_view operation) {
  const auto* found = std::find_if(std::begin(kComposites), std::end(kComposites),
                                   [&](const Composite& composite) { return composite.operation == operation; });
  return found == std::end(kComposites) ? nullptr : found;
}

absl::Status LowerCustomCall(Lowering& lowering, const HloInstruction& instruction) {
  const Operation operation = ParseOperation(instruction.raw_backend_config_string());
  const Composite* composite =
      instruction.custom_call_target() == kCustomCallTarget ? FindComposite(operation.name) : nullptr;
  if (composite == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat("Gaudi has no kernel for the custom-call ", std::string(instruction.custom_call_target())));
  }
  return composite->lower(lowering, instruction, operation.attributes);
}

}  // namespace

absl::Status ReplaceComposites(xla::HloModule* module, const PlanTarget& target) {
  for (HloInstruction* call : InstructionsOf(module, HloOpcode::kCall)) {
    const auto& attributes = call->frontend_attributes().map();
    const auto found = attributes.find(kOperationAttribute);
    if (found == attributes.end()) continue;
    const Operation operation = ParseOperation(found->second);
    const Composite* composite = FindComposite(operation.name);
    if (composite == nullptr || !IsStatic(*call) || !composite->accepts(CallCheck(*call, target), operation.attributes))
      continue;
    HloInstruction* custom = call->parent()->AddInstruction(
        HloInstruction::CreateCustomCall(call->shape(), call->operands(), kCustomCallTarget));
    custom->set_raw_backend_config_string(found->second);
    custom->set_metadata(call->metadata());
    HPU_RETURN_IF_ERROR(call->ReplaceAllUsesWith(custom));
    HPU_RETURN_IF_ERROR(call->parent()->RemoveInstruction(call));
  }
  return absl::OkStatus();
}

void AddComposites(LowerTable* table) { (*table)[HloOpcode::kCustomCall] = LowerCustomCall; }

}  // namespace hpu::gaudi
