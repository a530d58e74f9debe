#include "plugin/compiler/compiler_ir.h"

#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/base/flags/flags.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/version/contact.h"
#include "plugin/compat/cluster_analysis.h"
#include "plugin/compat/function_runtimes.h"
#include "plugin/compat/xla_compat.h"
#include "plugin/compiler/compile.h"
#include "plugin/compiler/lowering.h"
#include "plugin/hal/backend.h"
#include "plugin/program/hlo_ids.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/public/version.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/service/hlo.pb.h"
#include "xla/service/hlo_graph_dumper.h"

namespace hpu {
namespace {

using tensorflow::FunctionLibraryDefinition;
using tensorflow::GraphDef;
using tensorflow::NodeDef;

constexpr absl::string_view kStages[] = {"hlo",
                                         "hlo_no_metadata",
                                         "hlo_serialized",
                                         "optimized_hlo",
                                         "optimized_hlo_serialized",
                                         "optimized_hlo_proto_serialized",
                                         "optimized_hlo_dot",
                                         "recipe"};

absl::StatusOr<ArgumentDescription> Describe(const NodeDef& node) {
  ArgumentDescription argument;
  HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(node, "dtype", &argument.dtype));
  if (node.op() == "Const") {
    argument.kind = ArgumentDescription::Kind::kConstant;
    HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(node, "value", &argument.constant));
    argument.shape = argument.constant.shape();
    return argument;
  }
  if (node.op() == "VarHandleOp") argument.kind = ArgumentDescription::Kind::kVariable;
  HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(node, "shape", &argument.shape));
  return argument;
}

absl::StatusOr<xla::HloModuleProto> ParseModule(const std::string& bytes) {
  xla::HloModuleProto proto;
  if (!proto.ParseFromString(bytes)) {
    return absl::InternalError(
        absl::StrCat("cannot parse the compiler's HLO module (", bytes.size(), " bytes); " HPU_REPORT_BUG));
  }
  return proto;
}

absl::StatusOr<std::string> Print(const std::string& hlo, absl::string_view stage) {
  HPU_ASSIGN_OR_RETURN(xla::HloModuleProto proto, ParseModule(hlo));
  RenumberIds(&proto);  // the compiler may be of a newer XLA
  HPU_ASSIGN_OR_RETURN(const xla::ProgramShape program_shape,
                       compat::ProgramShapeFromProto(proto.host_program_shape()));
  const xla::HloModuleConfig config(program_shape, /*ignore_layouts=*/false);
  HPU_ASSIGN_OR_RETURN(const std::unique_ptr<xla::HloModule> module, xla::HloModule::CreateFromProto(proto, config));
  if (stage == "optimized_hlo_dot") {
    return xla::RenderGraph(*module->entry_computation(), "Visualization", /*debug_options=*/{},
                            xla::RenderedGraphFormat::kDot);
  }
  xla::HloPrintOptions options;
  options.set_print_metadata(stage != "hlo_no_metadata");
  return module->ToString(options);
}

absl::StatusOr<std::string> Optimize(const hal::Program& program) {
  HPU_ASSIGN_OR_RETURN(hal::Backend * backend, hal::GetBackend(flags::Backend()));
  absl::StatusOr<std::string> optimized = backend->OptimizedProgram(program);
  if (absl::IsUnimplemented(optimized.status())) {
    return absl::UnimplementedError(absl::StrCat("the backend ", backend->name(),
                                                 " cannot return its optimised program: request stage=\"hlo\", or set ",
                                                 "HPU_BACKEND=emulator"));
  }
  return optimized;
}

std::string ToText(const hal::TensorSpec& spec) {
  return absl::StrCat(hal::NameOf(spec.dtype), "[", absl::StrJoin(spec.dims, ","), "]");
}

// Describes a recipe as text, with a line for each argument and result.
absl::StatusOr<std::string> DescribeRecipe(hal::Device& device, const ClusterSource& source,
                                           const std::vector<ArgumentDescription>& arguments) {
  HPU_ASSIGN_OR_RETURN(const std::shared_ptr<Executable> executable, CompileCluster(device, source, arguments));
  if (executable->recipe == nullptr) return absl::StrCat("no recipe: the results of ", source.name, " are constants\n");
  const hal::Recipe& recipe = *executable->recipe;
  std::string text = absl::StrCat("recipe of ", source.name, "\nbackend: ", device.info().backend,
                                  "\nserialised: ", recipe.serialized_bytes(),
                                  " bytes\nworkspace: ", recipe.workspace_bytes(), " bytes\n");
  for (size_t i = 0; i < recipe.arguments().size(); ++i) {
    absl::StrAppend(&text, "argument ", i, ": ", ToText(recipe.arguments()[i]), ", input ",
                    executable->argument_inputs[i], " of the function\n");
  }
  for (size_t i = 0; i < recipe.results().size(); ++i) {
    const hal::ResultSpec& result = recipe.results()[i];
    absl::StrAppend(&text, "result ", i, ": ", ToText(result.spec));
    if (static_cast<int>(i) == executable->sizes_result) absl::StrAppend(&text, ", sizes of dynamic dimensions");
    if (result.aliased_argument >= 0) absl::StrAppend(&text, ", in place of argument ", result.aliased_argument);
    absl::StrAppend(&text, "\n");
  }
  return text;
}

absl::StatusOr<std::unique_ptr<FunctionLibraryDefinition>> LibraryOf(const GraphDef& graph) {
  auto library =
      std::make_unique<FunctionLibraryDefinition>(tensorflow::OpRegistry::Global(), tensorflow::FunctionDefLibrary());
  HPU_RETURN_IF_ERROR(library->AddLibrary(graph.library()));
  return library;
}

}  // namespace

absl::StatusOr<std::vector<int>> ConstantArguments(const GraphDef& graph, const std::string& function) {
  HPU_ASSIGN_OR_RETURN(const std::unique_ptr<FunctionLibraryDefinition> library, LibraryOf(graph));
  const AnalysisRuntime runtime(library.get());
  tensorflow::NameAttrList name;
  name.set_name(function);
  HPU_ASSIGN_OR_RETURN(FunctionConstants found, FindFunctionConstants(name, runtime.get()));
  return std::move(found.constants);
}

absl::StatusOr<std::string> CompilerIr(const GraphDef& graph, const std::string& function, absl::string_view stage,
                                       const DeviceGetter& acquire) {
  if (!absl::c_linear_search(kStages, stage)) {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown compilation stage '", stage, "'; expected one of ", absl::StrJoin(kStages, ", ")));
  }
  HPU_ASSIGN_OR_RETURN(const std::unique_ptr<FunctionLibraryDefinition> library, LibraryOf(graph));
  ClusterSource source;
  source.name = function;
  source.function.set_name(function);
  source.library = library.get();
  source.graph_def_version = TF_GRAPH_DEF_VERSION;
  source.dynamic_results = true;
  std::vector<ArgumentDescription> arguments;
  for (const NodeDef& node : graph.node()) {
    HPU_ASSIGN_OR_RETURN(arguments.emplace_back(), Describe(node));
  }
  if (stage == "recipe") {
    HPU_ASSIGN_OR_RETURN(hal::Device * device, acquire());
    return DescribeRecipe(*device, source, arguments);
  }
  HPU_ASSIGN_OR_RETURN(Lowered lowered, Lower(source, arguments));
  std::string hlo = std::move(lowered.program.hlo);
  if (absl::StartsWith(stage, "optimized")) {
    lowered.program.hlo = std::move(hlo);
    HPU_ASSIGN_OR_RETURN(hlo, Optimize(lowered.program));
  }
  if (stage == "optimized_hlo_proto_serialized") {
    xla::HloProto proto;
    HPU_ASSIGN_OR_RETURN(*proto.mutable_hlo_module(), ParseModule(hlo));
    return proto.SerializeAsString();
  }
  return absl::EndsWith(stage, "_serialized") ? hlo : Print(hlo, stage);
}

}  // namespace hpu
