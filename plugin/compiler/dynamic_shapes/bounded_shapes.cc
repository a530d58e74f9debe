#include "plugin/compiler/dynamic_shapes/bounded_shapes.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "plugin/base/status_macros.h"
#include "plugin/compat/xla_compat.h"
#include "plugin/compiler/dynamic_shapes/bounded_arrays.h"
#include "plugin/compiler/dynamic_shapes/compact_arrays.h"
#include "plugin/compiler/dynamic_shapes/extremum_operands.h"
#include "plugin/compiler/dynamic_shapes/list_sizes.h"
#include "plugin/compiler/dynamic_shapes/size_equality.h"
#include "plugin/compiler/dynamic_shapes/size_simplification.h"
#include "plugin/compiler/dynamic_shapes/size_sources.h"
#include "plugin/compiler/dynamic_shapes/symbol_values.h"
#include "xla/debug_options_flags.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/pass/hlo_pass_pipeline.h"
#include "xla/hlo/transforms/simplifiers/conditional_canonicalizer.h"
#include "xla/hlo/transforms/simplifiers/dynamic_dimension_simplifier.h"
#include "xla/hlo/transforms/simplifiers/hlo_dce.h"
#include "xla/literal_util.h"
#include "xla/service/batchnorm_expander.h"
#include "xla/service/call_inliner.h"
#include "xla/service/computation_layout.h"
#include "xla/service/dynamic_padder.h"
#include "xla/service/hlo_cse.h"
#include "xla/shape.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

bool IsDynamic(const xla::ShapeProto& shape) {
  return absl::c_any_of(shape.is_dynamic_dimension(), [](bool dynamic) { return dynamic; }) ||
         absl::c_any_of(shape.tuple_shapes(), IsDynamic);
}

// Describes the first instruction of dynamic shape by its opcode, op and shape.
std::string DescribeDynamic(const xla::HloModuleProto& program) {
  for (const xla::HloComputationProto& computation : program.computations()) {
    for (const xla::HloInstructionProto& instruction : computation.instructions()) {
      if (!IsDynamic(instruction.shape())) continue;
      const absl::StatusOr<xla::Shape> shape = compat::ShapeFromProto(instruction.shape());
      return absl::StrCat(instruction.opcode(), " of op ", instruction.metadata().op_name(), " (",
                          instruction.metadata().op_type(), ") has shape ",
                          shape.ok() ? shape->ToString() : shape.status().ToString());
    }
  }
  return "";
}

// Returns the static form of `result`. Appends the sizes of its dynamic dimensions to `sizes`.
xla::XlaOp MakeStatic(xla::XlaOp result, const xla::Shape& shape, std::vector<xla::XlaOp>* sizes,
                      SizeIndices* indices) {
  std::vector<xla::XlaOp> all;
  xla::XlaOp padded = result;
  for (int64_t d = 0; d < shape.dimensions_size(); ++d) {
    all.push_back(xla::GetDimensionSize(result, d));
    indices->push_back(-1);
    if (!shape.is_dynamic_dimension(d)) continue;
    indices->back() = static_cast<int>(sizes->size());
    sizes->push_back(all.back());
    padded = xla::RemoveDynamicDimension(padded, d);
  }
  return IsCompacted(shape) ? Compact(padded, shape, all) : padded;
}

// Appends the sizes to the program's results and makes the results static. Arrays inside the program stay dynamic.
absl::StatusOr<xla::XlaComputation> AppendSizes(const xla::XlaComputation& program, StaticProgram* rewritten) {
  HPU_ASSIGN_OR_RETURN(const xla::ProgramShape shape, program.GetProgramShape());
  xla::XlaBuilder builder(program.name());
  std::vector<xla::XlaOp> parameters, results, sizes;
  for (int i = 0; i < shape.parameters_size(); ++i) {
    parameters.push_back(xla::Parameter(&builder, i, shape.parameters(i), absl::StrCat("argument.", i)));
  }
  const xla::XlaOp all = xla::Call(&builder, program, parameters);
  for (int i = 0; i < shape.result().tuple_shapes_size(); ++i) {
    const xla::Shape& result = shape.result().tuple_shapes(i);
    SizeIndices& indices = rewritten->results.emplace_back();
    results.push_back(xla::GetTupleElement(all, i));
    if (result.is_dynamic()) results.back() = MakeStatic(results.back(), result, &sizes, &indices);
  }
  rewritten->sizes = static_cast<int>(sizes.size());
  for (xla::XlaOp& size : sizes) size = xla::Reshape(size, {1});
  if (!sizes.empty()) results.push_back(xla::ConcatInDim(&builder, sizes, 0));
  xla::Tuple(&builder, results);
  for (const auto& alias : program.proto().input_output_alias().entries()) {
    const xla::ShapeIndex result(alias.output_shape_index().begin(), alias.output_shape_index().end());
    if (result.size() != 1 || !rewritten->results[result[0]].empty()) continue;
    const xla::ShapeIndex part(alias.parameter_shape_index().begin(), alias.parameter_shape_index().end());
    builder.SetUpAlias(result, alias.parameter_number(), part);
  }
  return builder.Build();
}

int64_t MaxBound(const xla::HloModule& module) {
  int64_t bound = 0;
  for (const xla::HloComputation* computation : module.computations()) {
    for (const xla::HloInstruction* instruction : computation->instructions()) {
      const xla::Shape& shape = instruction->shape();
      for (int64_t d = 0; shape.IsArray() && d < shape.dimensions_size(); ++d) {
        if (shape.is_dynamic_dimension(d)) bound = std::max(bound, shape.dimensions(d));
      }
    }
  }
  return bound;
}

// Lets the padder compare the sizes of two dimensions, by a sum of arrays of these sizes. The sum has no user.
void RequireEqualSizes(xla::HloInstruction* first, int64_t d, xla::HloInstruction* second, int64_t e) {
  const xla::Shape size = xla::ShapeUtil::MakeShape(xla::S32, {});
  const auto sized = [&](xla::HloInstruction* array, int64_t dimension) {
    xla::HloComputation* const computation = array->parent();
    xla::Shape shape = xla::ShapeUtil::MakeShape(xla::S32, {array->shape().dimensions(dimension)});
    xla::HloInstruction* const iota = computation->AddInstruction(xla::HloInstruction::CreateIota(shape, 0));
    shape.set_dynamic_dimension(0, true);
    return computation->AddInstruction(xla::HloInstruction::CreateSetDimensionSize(
        shape, iota, computation->AddInstruction(xla::HloInstruction::CreateGetDimensionSize(size, array, dimension)),
        0));
  };
  xla::HloInstruction* const one = sized(first, d);
  first->parent()->AddInstruction(
      xla::HloInstruction::CreateBinary(one->shape(), xla::HloOpcode::kAdd, one, sized(second, e)));
}

// The padder fills a product's summed dimensions with zeros, without a comparison of their sizes. If only one of two
// dimensions is dynamic, the sizes differ, or the smaller dimension would be broadcast.
absl::Status CheckProducts(xla::HloModule* module) {
  for (xla::HloComputation* computation : module->computations()) {
    for (xla::HloInstruction* dot : computation->MakeInstructionPostOrder()) {
      if (dot->opcode() != xla::HloOpcode::kDot) continue;
      const xla::DotDimensionNumbers& numbers = dot->dot_dimension_numbers();
      std::vector<std::pair<int64_t, int64_t>> pairs;
      for (int i = 0; i < numbers.lhs_contracting_dimensions_size(); ++i) {
        pairs.emplace_back(numbers.lhs_contracting_dimensions(i), numbers.rhs_contracting_dimensions(i));
      }
      for (int i = 0; i < numbers.lhs_batch_dimensions_size(); ++i) {
        pairs.emplace_back(numbers.lhs_batch_dimensions(i), numbers.rhs_batch_dimensions(i));
      }
      for (const auto& [left, right] : pairs) {
        const bool is_dynamic = dot->operand(0)->shape().is_dynamic_dimension(left);
        if (is_dynamic != dot->operand(1)->shape().is_dynamic_dimension(right)) {
          return absl::UnimplementedError(
              absl::StrCat(dot->metadata().op_name(), " (", dot->metadata().op_type(), "): a product of ",
                           dot->operand(0)->shape().ToString(), " and ", dot->operand(1)->shape().ToString(),
                           " is not supported, because dimension ", is_dynamic ? left : right, " of the ",
                           is_dynamic ? "first" : "second", " is dynamic, and dimension ", is_dynamic ? right : left,
                           " of the other is static; make both static, or both dynamic"));
        }
        if (is_dynamic) RequireEqualSizes(dot->mutable_operand(0), left, dot->mutable_operand(1), right);
      }
    }
  }
  return absl::OkStatus();
}

// Custom call that keeps a predicate alive until the padder has ended, as kRequired does: the comparison of a size with
// its bound.
constexpr char kBounded[] = "HpuBounded";

void KeepAlive(xla::HloInstruction* predicate, const char* target) {
  xla::HloInstruction* const call = predicate->parent()->AddInstruction(
      xla::HloInstruction::CreateCustomCall(xla::ShapeUtil::MakeTokenShape(), {predicate}, target));
  xla::Cast<xla::HloCustomCallInstruction>(call)->set_custom_call_has_side_effect(true);
}

using Conditions = std::vector<std::shared_ptr<const SizeArithmetic>>;

// Whether a condition depends on nothing but symbols.
bool DependsOnSymbols(const SizeArithmetic& condition, const SizeParameter& symbols) {
  return !symbols.ranges.empty() && absl::c_all_of(condition.inputs(), [&](const xla::HloInstruction* input) {
    return IsParameter(*input, symbols.number);
  });
}

// Lets ProveRequired compare sizes with their bounds. XLA computes the bound of a size from the bounds of other sizes,
// as if all arithmetic were monotonic.
void RequireBounds(xla::HloModule* module) {
  for (xla::HloComputation* computation : module->computations()) {
    for (xla::HloInstruction* sized : computation->MakeInstructionPostOrder()) {
      if (sized->opcode() != xla::HloOpcode::kSetDimensionSize) continue;
      xla::HloInstruction* const size = sized->mutable_operand(1);
      if (size->opcode() == xla::HloOpcode::kGetDimensionSize || size->opcode() == xla::HloOpcode::kConstant) continue;
      const auto compare = [&](int32_t number, xla::ComparisonDirection direction) {
        return computation->AddInstruction(xla::HloInstruction::CreateCompare(
            xla::ShapeUtil::MakeShape(xla::PRED, {}), size,
            computation->AddInstruction(xla::HloInstruction::CreateConstant(xla::LiteralUtil::CreateR0(number))),
            direction));
      };
      const auto bound = static_cast<int32_t>(sized->shape().dimensions(sized->dimension()));
      xla::HloInstruction* const holds = computation->AddInstruction(xla::HloInstruction::CreateBinary(
          xla::ShapeUtil::MakeShape(xla::PRED, {}), xla::HloOpcode::kAnd, compare(bound, xla::ComparisonDirection::kLe),
          compare(0, xla::ComparisonDirection::kGe)));
      holds->set_metadata(sized->metadata());
      KeepAlive(holds, kBounded);
    }
  }
}

// Proves the predicates that KeepAlive keeps, and removes their custom calls. Sizes of loops are complete only
// now. An equality that is true for some symbols only becomes a condition.
absl::Status ProveRequired(xla::HloModule* module, int64_t bound, const SizeParameter& symbols,
                           Conditions* conditions) {
  std::vector<xla::HloInstruction*> calls;
  for (xla::HloComputation* computation : module->computations()) {
    absl::c_copy_if(computation->instructions(), std::back_inserter(calls), [](const xla::HloInstruction* call) {
      return call->IsCustomCall(kRequired) || call->IsCustomCall(kBounded);
    });
  }
  SizeSources sources(*module, symbols);
  for (const xla::HloInstruction* call : calls) {
    const xla::HloInstruction* const predicate = call->operand(0);
    if (call->IsCustomCall(kBounded)) {
      HPU_RETURN_IF_ERROR(CheckForSymbols(*predicate, symbols, &sources));
      continue;
    }
    const absl::Status proven = ProveSizesEqual(*predicate, bound, symbols, &sources);
    if (proven.ok()) continue;
    auto condition =
        std::make_shared<const SizeArithmetic>(std::vector<const xla::HloInstruction*>{predicate}, &sources);
    if (!DependsOnSymbols(*condition, symbols)) return proven;
    conditions->push_back(std::move(condition));
  }
  for (xla::HloInstruction* call : calls) HPU_RETURN_IF_ERROR(call->parent()->RemoveInstruction(call));
  return absl::OkStatus();
}

// Runs XLA's dynamic padder. As in XLA's CPU compiler, earlier passes rewrite instructions that the padder does not
// support.
absl::Status RunPadder(xla::HloModule* module, const SizeParameter& symbols, Conditions* conditions) {
  HPU_RETURN_IF_ERROR(xla::CallInliner(/*single_call_site=*/true).Run(module).status());
  HPU_RETURN_IF_ERROR(SetFirstListSizes(module));
  xla::HloPassPipeline pipeline("bounded shapes");
  pipeline.AddPass<xla::CallInliner>(/*single_call_site=*/true);
  pipeline.AddPass<xla::BatchNormExpander>(/*rewrite_training_op=*/true, /*rewrite_inference_op=*/true,
                                           /*rewrite_grad_op=*/true);
  pipeline.AddPass<xla::ConditionalCanonicalizer>();
  pipeline.AddPass<xla::DynamicDimensionSimplifier>();
  pipeline.AddPass<xla::HloCSE>(/*is_layout_sensitive=*/false);  // equal masks have one size
  HPU_RETURN_IF_ERROR(pipeline.Run(module).status());
  const int64_t bound = MaxBound(*module);
  HPU_RETURN_IF_ERROR(CheckProducts(module));
  if (!symbols.ranges.empty()) RequireBounds(module);
  const Instructions selects = FindSelects(*module);
  xla::DynamicPadderOptions options;
  options.slice_dynamic_output = false;
  options.shape_check_mode = xla::DynamicDimensionInference::ShapeCheckMode::kRuntime;
  options.assertion_generator = [](xla::HloInstruction* predicate) { KeepAlive(predicate, kRequired); };
  HPU_RETURN_IF_ERROR(xla::DynamicPadder(options).Run(module).status());
  HPU_RETURN_IF_ERROR(SimplifySizes(module, symbols));
  HPU_RETURN_IF_ERROR(ProveRequired(module, bound, symbols, conditions));
  HPU_RETURN_IF_ERROR(xla::HloCSE(/*is_layout_sensitive=*/false).Run(module).status());  // equal masks
  HPU_RETURN_IF_ERROR(ShareExtremumOperands(module, selects));
  return xla::HloDCE().Run(module).status();
}

// Refuses reduce-window instructions that pad a dynamic dimension. XLA's padder ignores the windows' padding, so sizes
// would be wrong or negative.
absl::Status CheckWindows(const xla::HloModule& module) {
  for (const xla::HloComputation* computation : module.computations()) {
    for (const xla::HloInstruction* instruction : computation->instructions()) {
      if (instruction->opcode() != xla::HloOpcode::kReduceWindow) continue;
      const xla::Shape& shape = instruction->operand(0)->shape();
      for (int64_t d = 0; d < shape.dimensions_size(); ++d) {
        const xla::WindowDimension& window = instruction->window().dimensions(d);
        if (!shape.is_dynamic_dimension(d) || (window.padding_low() == 0 && window.padding_high() == 0)) continue;
        return absl::UnimplementedError(
            absl::StrCat(instruction->metadata().op_name(), " (", instruction->metadata().op_type(),
                         "): padded windows over dimension ", d, " of shape ", shape.ToString(),
                         " are not supported, because the size of this dimension is dynamic; move the op out of the "
                         "jit_compile=True function, or make the shape static"));
      }
    }
  }
  return absl::OkStatus();
}

// Removes the custom calls of RequireAtLaunch. With symbols, adds the arithmetic of their conditions to `conditions`.
absl::Status TakeConditions(xla::HloModule* module, const SizeParameter& symbols, Conditions* conditions) {
  SizeSources sources(*module, symbols);
  std::vector<xla::HloInstruction*> calls;
  for (xla::HloComputation* computation : module->computations()) {
    absl::c_copy_if(computation->instructions(), std::back_inserter(calls),
                    [](const xla::HloInstruction* call) { return call->IsCustomCall(kLaunchCondition); });
  }
  for (const xla::HloInstruction* call : calls) {
    if (symbols.ranges.empty()) break;
    conditions->push_back(
        std::make_shared<const SizeArithmetic>(std::vector<const xla::HloInstruction*>{call->operand(0)}, &sources));
    if (DependsOnSymbols(*conditions->back(), symbols)) continue;
    return absl::UnimplementedError(absl::StrCat("the sizes of ", call->metadata().op_name(), " (",
                                                 call->metadata().op_type(), ") depend on values"));
  }
  for (xla::HloInstruction* call : calls) HPU_RETURN_IF_ERROR(call->parent()->RemoveInstruction(call));
  return xla::HloDCE().Run(module).status();
}

// Removes the sizes from the module's results. Returns the arithmetic that computes them.
absl::StatusOr<std::shared_ptr<const SizeArithmetic>> TakeSizes(xla::HloModule* module, const SizeParameter& symbols) {
  xla::HloComputation* const entry = module->entry_computation();
  const xla::HloInstruction* const results = entry->root_instruction();
  SizeSources sources(*module, symbols);
  auto arithmetic = std::make_shared<const SizeArithmetic>(
      std::vector<const xla::HloInstruction*>{results->operands().back()}, &sources);
  for (const xla::HloInstruction* input : arithmetic->inputs()) {
    if (IsParameter(*input, symbols.number)) continue;
    return absl::UnimplementedError(absl::StrCat("the size of a result depends on values, of ",
                                                 input->metadata().op_name(), " (", input->metadata().op_type(), ")"));
  }
  const std::vector<xla::HloInstruction*> kept(results->operands().begin(), results->operands().end() - 1);
  xla::HloInstruction* const root = entry->AddInstruction(xla::HloInstruction::CreateTuple(kept));
  entry->set_root_instruction(root, /*accept_different_shape=*/true);
  *module->mutable_entry_computation_layout() = xla::ComputationLayout(entry->ComputeProgramShape(), true);
  HPU_RETURN_IF_ERROR(xla::HloDCE().Run(module).status());
  return arithmetic;
}

}  // namespace

bool HasDynamicShapes(const xla::HloModuleProto& program) {
  return absl::c_any_of(program.computations(), [](const xla::HloComputationProto& computation) {
    return absl::c_any_of(computation.instructions(),
                          [](const xla::HloInstructionProto& instruction) { return IsDynamic(instruction.shape()); });
  });
}

absl::StatusOr<StaticProgram> RemoveDynamicShapes(const xla::XlaComputation& program, const SizeParameter& symbols) {
  StaticProgram rewritten;
  HPU_ASSIGN_OR_RETURN(const xla::XlaComputation with_sizes, AppendSizes(program, &rewritten));
  HPU_ASSIGN_OR_RETURN(const xla::ProgramShape program_shape,
                       compat::ProgramShapeFromProto(with_sizes.proto().host_program_shape()));
  xla::HloModuleConfig config(program_shape, /*ignore_layouts=*/true);
  config.set_debug_options(xla::GetDebugOptionsFromFlags());
  HPU_ASSIGN_OR_RETURN(const std::unique_ptr<xla::HloModule> module,
                       xla::HloModule::CreateFromProto(with_sizes.proto(), config));
  HPU_RETURN_IF_ERROR(CheckWindows(*module));
  HPU_RETURN_IF_ERROR(RunPadder(module.get(), symbols, &rewritten.conditions));
  HPU_RETURN_IF_ERROR(TakeConditions(module.get(), symbols, &rewritten.conditions));
  if (!symbols.ranges.empty() && rewritten.sizes > 0) {
    HPU_ASSIGN_OR_RETURN(rewritten.arithmetic, TakeSizes(module.get(), symbols));
  }
  rewritten.hlo = module->ToProto();
  if (HasDynamicShapes(rewritten.hlo)) {
    return absl::UnimplementedError(absl::StrCat(
        program.name(), ": XLA's dynamic padder left dynamic shapes in the program: ", DescribeDynamic(rewritten.hlo),
        "; move the op out of the jit_compile=True function, or make the shape static"));
  }
  return rewritten;
}

}  // namespace hpu
