#include "plugin/compiler/lowering.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/containment/contained_call.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/version/contact.h"
#include "plugin/compat/cluster_compilation.h"
#include "plugin/compiler/attention_marks.h"
#include "plugin/compiler/bounded_arguments.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/dynamic_shapes/bounded_shapes.h"
#include "plugin/compiler/empty_loops.h"
#include "plugin/compiler/full_precision.h"
#include "plugin/compiler/marked_operations.h"
#include "plugin/compiler/merged_arguments.h"
#include "plugin/program/determinism.h"
#include "plugin/program/hlo_ids.h"
#include "plugin/program/marked_call.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "xla/tsl/util/determinism.h"

namespace hpu {
namespace {

using tensorflow::XlaArgument;
using tensorflow::XlaCompilationResult;

XlaArgument ToXla(const ArgumentDescription& argument, size_t index) {
  XlaArgument result;
  result.name = absl::StrCat("arg", index);
  result.type = argument.dtype;
  result.shape = argument.shape;
  switch (argument.kind) {
    case ArgumentDescription::Kind::kParameter:
      result.kind = XlaArgument::kParameter;
      break;
    case ArgumentDescription::Kind::kConstant:
      result.kind = XlaArgument::kConstant;
      result.constant_value = argument.constant;
      break;
    case ArgumentDescription::Kind::kVariable:
      result.kind = XlaArgument::kResource;
      result.resource_kind = tensorflow::XlaResource::kVariable;
      result.initialized = argument.initialized;
      if (!argument.initialized) {
        result.type = tensorflow::DT_INVALID;
        result.shape = tensorflow::TensorShape();
      }
      break;
  }
  return result;
}

CompilationInput ToCompilationInput(const ClusterSource& source) {
  CompilationInput input;
  input.device_type = kCompilationDevice;
  input.library = source.library;
  input.graph_def_version = source.graph_def_version;
  input.function = &source.function;
  input.node = source.node;
  input.node_outputs = source.node_outputs;
  return input;
}

absl::Status CheckResultShapes(const ClusterSource& source, const xla::Shape& shape, int expected,
                               bool allows_dynamic) {
  const std::string& name = source.name;
  if (shape.tuple_shapes_size() != expected) {
    return absl::InternalError(absl::StrCat(name, ": the program returns ", shape.tuple_shapes_size(),
                                            " results, expected ", expected, "; " HPU_REPORT_BUG));
  }
  for (int i = 0; i < expected; ++i) {
    const xla::Shape& element = shape.tuple_shapes(i);
    if (!element.IsArray()) {
      return absl::UnimplementedError(absl::StrCat(name, ": result ", i, " has shape ", element.ToString(),
                                                   "; a recipe can return arrays only: return a tensor"));
    }
    if (element.is_dynamic() && !allows_dynamic) {
      return absl::UnimplementedError(
          absl::StrCat(name, ": result ", i, " has shape ", element.ToString(),
                       "; results must be arrays of static shape: use a mask or fixed sizes"));
    }
  }
  return absl::OkStatus();
}

absl::Status FillOutputs(const ClusterSource& source, const XlaCompilationResult& result, bool allows_dynamic,
                         Executable* executable) {
  const std::string& name = source.name;
  int next_result = 0;
  for (size_t i = 0; i < result.outputs.size(); ++i) {
    const auto& from = result.outputs[i];
    Executable::Output to;
    to.dtype = from.type;
    to.shape = from.shape;
    if (from.is_tensor_list || from.type == tensorflow::DT_VARIANT) {
      return absl::UnimplementedError(absl::StrCat(
          name, ": output ", i, from.is_tensor_list ? " is a TensorList" : " has type variant",
          "; a recipe can return arrays only: return a tensor, such as the result of TensorArray.stack()"));
    }
    if (from.is_constant) {
      to.kind = Executable::Output::Kind::kConstant;
      to.constant = from.constant_value;
      to.shape = from.constant_value.shape();
    } else if (from.type == tensorflow::DT_RESOURCE) {
      to.kind = Executable::Output::Kind::kResource;
      to.input = from.input_index;
    } else {
      to.result = next_result++;
    }
    executable->outputs.push_back(std::move(to));
  }
  for (const auto& from : result.resource_updates) {
    Executable::Update to;
    to.input = from.input_index;
    to.result = next_result++;
    to.dtype = from.type;
    to.shape = from.shape;
    executable->updates.push_back(std::move(to));
  }
  return CheckResultShapes(source, result.xla_output_shape, next_result, allows_dynamic);
}

// The program's parameter with the symbols, which are the last argument of a bounded function; none without symbols.
SizeParameter FindSizeParameter(const std::vector<SizeRange>& symbols, const std::vector<int>& argument_inputs,
                                int arguments) {
  SizeParameter parameter;
  if (symbols.empty()) return parameter;
  parameter.ranges = symbols;
  const auto found = absl::c_find(argument_inputs, arguments - 1);
  if (found != argument_inputs.end()) parameter.number = found - argument_inputs.begin();
  return parameter;
}

// Removes dynamic shapes from the program and describes the sizes of dynamic results in `lowered`.
absl::StatusOr<xla::HloModuleProto> MakeArgumentStatic(const XlaCompilationResult& result, const SizeParameter& symbols,
                                                       Lowered* lowered) {
  HPU_ASSIGN_OR_RETURN(StaticProgram program, RemoveDynamicShapes(*result.computation, symbols));
  Executable& executable = lowered->executable;
  for (Executable::Output& output : executable.outputs) {
    if (output.result >= 0) output.sizes = std::move(program.results[output.result]);
  }
  for (Executable::Update& update : executable.updates) update.sizes = std::move(program.results[update.result]);
  lowered->result_sizes = std::move(program.arithmetic);
  lowered->conditions = std::move(program.conditions);
  if (lowered->result_sizes != nullptr || program.sizes == 0) return std::move(program.hlo);
  executable.sizes = program.sizes;
  executable.sizes_result = static_cast<int>(program.results.size());
  return std::move(program.hlo);
}

absl::Status CheckUpdates(const Executable& executable) {
  for (const Executable::Update& update : executable.updates) {
    if (update.sizes.empty()) continue;
    return absl::UnimplementedError(
        absl::StrCat("the variable of argument ", update.input, " gets a value of dynamic shape"));
  }
  return absl::OkStatus();
}

// Lower for arguments that name each variable once. `symbols` are those of a bounded function.
absl::StatusOr<Lowered> LowerMerged(const ClusterSource& source, const std::vector<ArgumentDescription>& arguments,
                                    const std::vector<SizeRange>& symbols) {
  std::vector<XlaArgument> xla_arguments;
  xla_arguments.reserve(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) xla_arguments.push_back(ToXla(arguments[i], i));
  HPU_ASSIGN_OR_RETURN(const XlaCompilationResult result, CompileToHlo(ToCompilationInput(source), xla_arguments));

  Lowered lowered;
  lowered.executable.name = source.name;
  if (source.node != nullptr) lowered.executable.attributes = tensorflow::SummarizeAttrs(*source.node);
  lowered.executable.argument_inputs = result.input_mapping;
  HPU_RETURN_IF_ERROR(FillOutputs(source, result, source.dynamic_results || !symbols.empty(), &lowered.executable));
  lowered.program.name = source.name;
  xla::HloModuleProto* hlo = result.computation->mutable_proto();
  xla::HloModuleProto static_hlo;
  if (HasDynamicShapes(*hlo)) {
    const SizeParameter parameter =
        FindSizeParameter(symbols, result.input_mapping, static_cast<int>(arguments.size()));
    HPU_ASSIGN_OR_RETURN(static_hlo, MakeArgumentStatic(result, parameter, &lowered));
    if (!symbols.empty()) HPU_RETURN_IF_ERROR(CheckUpdates(lowered.executable));
    hlo = &static_hlo;
  }
  if (tsl::OpDeterminismRequired()) RequireDeterminism(hlo);
  RequestFullPrecision(FullPrecision::FromSettings(), hlo);
  if (MarksOperation(kAttention)) HPU_RETURN_IF_ERROR(MarkAttention(hlo));
  RenumberIds(hlo);
  RemoveEmptyLoops(hlo);
  if (!hlo->SerializeToString(&lowered.program.hlo)) {
    return absl::ResourceExhaustedError(
        absl::StrCat(source.name, ": the program exceeds 2 GB; pass large constants as arguments or variables"));
  }
  return lowered;
}

// Lower without crash containment.
absl::StatusOr<Lowered> LowerHere(const ClusterSource& source, const std::vector<ArgumentDescription>& arguments,
                                  const std::vector<SizeRange>& symbols) {
  if (!NamesVariableTwice(arguments)) return LowerMerged(source, arguments, symbols);
  HPU_ASSIGN_OR_RETURN(const MergedArguments merged, MergeArguments(source, arguments));
  ClusterSource merged_source = source;
  merged_source.library = merged.library.get();
  HPU_ASSIGN_OR_RETURN(Lowered lowered, LowerMerged(merged_source, merged.arguments, symbols));
  merged.RestoreInputs(&lowered.executable);
  return lowered;
}

absl::StatusOr<Lowered> LowerContained(const ClusterSource& source, const std::vector<ArgumentDescription>& arguments,
                                       const std::vector<SizeRange>& symbols) {
  Lowered lowered;
  HPU_RETURN_IF_ERROR(containment::RunContained(absl::StrCat("lowering ", source.name), [&]() -> absl::Status {
    HPU_ASSIGN_OR_RETURN(lowered, LowerHere(source, arguments, symbols));
    return absl::OkStatus();
  }));
  return lowered;
}

}  // namespace

absl::StatusOr<Lowered> Lower(const ClusterSource& source, const std::vector<ArgumentDescription>& arguments) {
  return LowerContained(source, arguments, /*symbols=*/{});
}

absl::StatusOr<Lowered> LowerBounded(const ClusterSource& source, const BoundedArguments& arguments) {
  HPU_ASSIGN_OR_RETURN(const BoundedFunction function, MakeBoundedFunction(source, arguments));
  ClusterSource bounded = source;
  bounded.library = function.library.get();
  return LowerContained(bounded, function.arguments, arguments.symbols);
}

}  // namespace hpu
