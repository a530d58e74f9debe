#include "plugin/compiler/lowering.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/base/containment/contained_call.h"
#include "plugin/compiler/bounded_shapes.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/program/determinism.h"
#include "tensorflow/compiler/tf2xla/xla_compiler.h"
#include "tsl/util/determinism.h"
#include "xla/client/client_library.h"
#include "xla/client/local_client.h"
#include "xla/service/platform_util.h"

namespace hpu {
namespace {

using tensorflow::XlaArgument;
using tensorflow::XlaCompiler;

// The XLA client with which tf2xla evaluates constants.
absl::StatusOr<xla::LocalClient*> EvaluationClient() {
  static const auto* client = new absl::StatusOr<xla::LocalClient*>([]() -> absl::StatusOr<xla::LocalClient*> {
    TF_ASSIGN_OR_RETURN(auto* platform, xla::PlatformUtil::GetPlatform("Host"));
    xla::LocalClientOptions options;
    options.set_platform(platform);
    return xla::ClientLibrary::GetOrCreateLocalClient(options);
  }());
  return *client;
}

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

absl::Status Compile(const ClusterSource& source, const std::vector<XlaArgument>& arguments, xla::Client* client,
                     XlaCompiler::CompilationResult* result) {
  XlaCompiler::Options options;
  options.device_type = tensorflow::DeviceType(kCompilationDevice);
  options.client = client;
  options.flib_def = source.library;
  options.graph_def_version = source.graph_def_version;
  options.allow_cpu_custom_calls = true;
  options.detailed_logging = false;
  XlaCompiler compiler(options);
  XlaCompiler::CompileOptions compile_options;
  compile_options.alias_resource_update = true;
  if (source.node == nullptr) return compiler.CompileFunction(compile_options, source.function, arguments, result);
  XlaCompiler::SingleOpCompileArgument op;
  op.node_def = *source.node;
  op.output_dtypes = source.node_outputs;
  return compiler.CompileSingleOp(compile_options, op, arguments, result);
}

absl::Status CheckResultShapes(const ClusterSource& source, const xla::Shape& shape, int expected) {
  const std::string& name = source.name;
  if (shape.tuple_shapes_size() != expected) {
    return absl::InternalError(
        absl::StrCat(name, ": the program returns ", shape.tuple_shapes_size(), " results, expected ", expected));
  }
  for (int i = 0; i < expected; ++i) {
    const xla::Shape& element = shape.tuple_shapes(i);
    if (!element.IsArray()) {
      return absl::UnimplementedError(
          absl::StrCat(name, ": result ", i, " has shape ", element.ToString(), "; results must be arrays"));
    }
    if (element.is_dynamic() && !source.dynamic_results) {
      return absl::UnimplementedError(
          absl::StrCat(name, ": result ", i, " has shape ", element.ToString(),
                       "; results must be arrays of static shape: use a mask or fixed sizes"));
    }
  }
  return absl::OkStatus();
}

absl::Status FillOutputs(const ClusterSource& source, const XlaCompiler::CompilationResult& result,
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
  return CheckResultShapes(source, result.xla_output_shape, next_result);
}

// Removes dynamic shapes from the program and describes the sizes of dynamic results in `executable`.
absl::StatusOr<xla::HloModuleProto> MakeStatic(const XlaCompiler::CompilationResult& result, Executable* executable) {
  TF_ASSIGN_OR_RETURN(StaticProgram program, RemoveDynamicShapes(*result.computation));
  if (program.sizes > 0) {
    executable->sizes = program.sizes;
    executable->sizes_result = static_cast<int>(program.results.size());
    for (Executable::Output& output : executable->outputs) {
      if (output.result >= 0) output.sizes = std::move(program.results[output.result]);
    }
    for (Executable::Update& update : executable->updates) update.sizes = std::move(program.results[update.result]);
  }
  return std::move(program.hlo);
}

// Lower without crash containment.
absl::StatusOr<Lowered> LowerHere(const ClusterSource& source, const std::vector<ArgumentDescription>& arguments) {
  TF_ASSIGN_OR_RETURN(xla::LocalClient * client, EvaluationClient());
  std::vector<XlaArgument> xla_arguments;
  xla_arguments.reserve(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) xla_arguments.push_back(ToXla(arguments[i], i));
  XlaCompiler::CompilationResult result;
  TF_RETURN_IF_ERROR(Compile(source, xla_arguments, client, &result));

  Lowered lowered;
  lowered.executable.name = source.name;
  lowered.executable.argument_inputs = result.input_mapping;
  TF_RETURN_IF_ERROR(FillOutputs(source, result, &lowered.executable));
  lowered.program.name = source.name;
  xla::HloModuleProto* hlo = result.computation->mutable_proto();
  xla::HloModuleProto static_hlo;
  if (HasDynamicShapes(*hlo)) {
    TF_ASSIGN_OR_RETURN(static_hlo, MakeStatic(result, &lowered.executable));
    hlo = &static_hlo;
  }
  if (tsl::OpDeterminismRequired()) RequireDeterminism(hlo);
  if (!hlo->SerializeToString(&lowered.program.hlo)) {
    return absl::ResourceExhaustedError(
        absl::StrCat(source.name, ": the program exceeds 2 GB; pass large constants as arguments or variables"));
  }
  return lowered;
}

}  // namespace

absl::StatusOr<Lowered> Lower(const ClusterSource& source, const std::vector<ArgumentDescription>& arguments) {
  Lowered lowered;
  TF_RETURN_IF_ERROR(containment::RunContained(absl::StrCat("lowering ", source.name), [&]() -> absl::Status {
    TF_ASSIGN_OR_RETURN(lowered, LowerHere(source, arguments));
    return absl::OkStatus();
  }));
  return lowered;
}

}  // namespace hpu
