#include "plugin/compiler/bounded_shapes.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "plugin/compiler/size_equality.h"
#include "tsl/platform/errors.h"
#include "tsl/platform/statusor.h"
#include "xla/client/lib/constants.h"
#include "xla/client/xla_builder.h"
#include "xla/debug_options_flags.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/service/batchnorm_expander.h"
#include "xla/service/call_inliner.h"
#include "xla/service/conditional_canonicalizer.h"
#include "xla/service/dynamic_dimension_simplifier.h"
#include "xla/service/dynamic_padder.h"
#include "xla/service/hlo_cse.h"
#include "xla/service/hlo_dce.h"
#include "xla/service/hlo_pass_pipeline.h"
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
      return absl::StrCat(instruction.opcode(), " of op ", instruction.metadata().op_name(), " (",
                          instruction.metadata().op_type(), ") has shape ", xla::Shape(instruction.shape()).ToString());
    }
  }
  return "";
}

// Whether the elements of a padded array must move to the front in row-major order. False if only the outermost
// dimension longer than 1 is padded.
bool NeedsCompaction(const xla::Shape& shape) {
  int64_t outer = 1;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (shape.is_dynamic_dimension(d) && outer > 1) return xla::ShapeUtil::ElementsIn(shape) > 0;
    outer *= shape.dimensions(d);
  }
  return false;
}

// Moves the elements to the front. `padded` has the bounds of `shape` as its dimensions; `sizes` are the actual sizes,
// int32 scalars.
xla::XlaOp Compact(xla::XlaOp padded, const xla::Shape& shape, absl::Span<const xla::XlaOp> sizes) {
  xla::XlaBuilder* builder = padded.builder();
  const int64_t elements = xla::ShapeUtil::ElementsIn(shape);
  const xla::PrimitiveType type = elements <= std::numeric_limits<int32_t>::max() ? xla::S32 : xla::S64;
  xla::XlaOp rest = xla::Iota(builder, type, elements);
  xla::XlaOp source = xla::Broadcast(xla::Zero(builder, type), {elements});
  int64_t stride = 1;
  for (int64_t d = shape.rank() - 1; d >= 0; --d) {
    // Past the last element, coordinates of the outermost dimension are out of range; a gather clamps these
    // coordinates.
    const xla::XlaOp size = xla::ConvertElementType(xla::Max(sizes[d], xla::One(builder, xla::S32)), type);
    const xla::XlaOp coordinate = d == 0 ? rest : xla::Rem(rest, size);
    source = xla::Add(source, xla::Mul(coordinate, xla::ConstantR0WithType(builder, type, stride)));
    rest = xla::Div(rest, size);
    stride *= shape.dimensions(d);
  }
  xla::GatherDimensionNumbers dimensions;
  dimensions.add_collapsed_slice_dims(0);
  dimensions.add_start_index_map(0);
  dimensions.set_index_vector_dim(1);
  const xla::XlaOp gathered = xla::Gather(xla::Reshape(padded, {elements}), source, dimensions, {1});
  return xla::Reshape(gathered, shape.dimensions());
}

// Returns the static form of `result`. Appends the sizes of its dynamic dimensions to `sizes`.
xla::XlaOp MakeStatic(xla::XlaOp result, const xla::Shape& shape, std::vector<xla::XlaOp>* sizes,
                      SizeIndices* indices) {
  std::vector<xla::XlaOp> all;
  xla::XlaOp padded = result;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    all.push_back(xla::GetDimensionSize(result, d));
    indices->push_back(-1);
    if (!shape.is_dynamic_dimension(d)) continue;
    indices->back() = static_cast<int>(sizes->size());
    sizes->push_back(all.back());
    padded = xla::RemoveDynamicDimension(padded, d);
  }
  return NeedsCompaction(shape) ? Compact(padded, shape, all) : padded;
}

// Appends the sizes to the program's results and makes the results static. Arrays inside the program stay dynamic.
absl::StatusOr<xla::XlaComputation> AppendSizes(const xla::XlaComputation& program, StaticProgram* rewritten) {
  TF_ASSIGN_OR_RETURN(const xla::ProgramShape shape, program.GetProgramShape());
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
      for (int64_t d = 0; shape.IsArray() && d < shape.rank(); ++d) {
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

// Runs XLA's dynamic padder. As in XLA's CPU compiler, earlier passes rewrite instructions that the padder does not
// support.
absl::Status RunPadder(xla::HloModule* module) {
  xla::HloPassPipeline pipeline("bounded shapes");
  pipeline.AddPass<xla::CallInliner>(/*single_call_site=*/true);
  pipeline.AddPass<xla::BatchNormExpander>(/*rewrite_training_op=*/true, /*rewrite_inference_op=*/true,
                                           /*rewrite_grad_op=*/true);
  pipeline.AddPass<xla::ConditionalCanonicalizer>();
  pipeline.AddPass<xla::DynamicDimensionSimplifier>();
  pipeline.AddPass<xla::HloCSE>(/*is_layout_sensitive=*/false);  // equal masks have one size
  TF_RETURN_IF_ERROR(pipeline.Run(module).status());
  const int64_t bound = MaxBound(*module);
  TF_RETURN_IF_ERROR(CheckProducts(module));
  xla::DynamicPadderOptions options;
  options.slice_dynamic_output = false;
  options.shape_check_mode = xla::DynamicDimensionInference::ShapeCheckMode::kRuntime;
  absl::Status equal;
  options.assertion_generator = [&](xla::HloInstruction* assertion) {
    equal.Update(ProveSizesEqual(*assertion, bound));
  };
  TF_RETURN_IF_ERROR(xla::DynamicPadder(options).Run(module).status());
  TF_RETURN_IF_ERROR(equal);
  return xla::HloDCE().Run(module).status();
}

// Refuses reduce-window instructions that pad a dynamic dimension. XLA's padder ignores the windows' padding, so sizes
// would be wrong or negative.
absl::Status CheckWindows(const xla::HloModule& module) {
  for (const xla::HloComputation* computation : module.computations()) {
    for (const xla::HloInstruction* instruction : computation->instructions()) {
      if (instruction->opcode() != xla::HloOpcode::kReduceWindow) continue;
      const xla::Shape& shape = instruction->operand(0)->shape();
      for (int64_t d = 0; d < shape.rank(); ++d) {
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

}  // namespace

bool HasDynamicShapes(const xla::HloModuleProto& program) {
  return absl::c_any_of(program.computations(), [](const xla::HloComputationProto& computation) {
    return absl::c_any_of(computation.instructions(),
                          [](const xla::HloInstructionProto& instruction) { return IsDynamic(instruction.shape()); });
  });
}

absl::StatusOr<StaticProgram> RemoveDynamicShapes(const xla::XlaComputation& program) {
  StaticProgram rewritten;
  TF_ASSIGN_OR_RETURN(const xla::XlaComputation with_sizes, AppendSizes(program, &rewritten));
  xla::HloModuleConfig config(xla::ProgramShape(with_sizes.proto().host_program_shape()), /*ignore_layouts=*/true);
  config.set_debug_options(xla::GetDebugOptionsFromFlags());
  TF_ASSIGN_OR_RETURN(const std::unique_ptr<xla::HloModule> module,
                      xla::HloModule::CreateFromProto(with_sizes.proto(), config));
  TF_RETURN_IF_ERROR(CheckWindows(*module));
  TF_RETURN_IF_ERROR(RunPadder(module.get()));
  rewritten.hlo = module->ToProto();
  if (HasDynamicShapes(rewritten.hlo)) {
    return absl::UnimplementedError(absl::StrCat(
        program.name(), ": XLA's dynamic padder left dynamic shapes in the program: ", DescribeDynamic(rewritten.hlo),
        "; move the op out of the jit_compile=True function, or make the shape static"));
  }
  return rewritten;
}

}  // namespace hpu
