#include "plugin/compat/cluster_compilation.h"

#include "plugin/base/status_macros.h"
#include "tensorflow/compiler/tf2xla/resource_operation_table.h"
#include "xla/client/client_library.h"
#include "xla/client/local_client.h"
#include "xla/service/platform_util.h"

namespace hpu {

using tensorflow::XlaCompiler;

namespace {

// The XLA client with which tf2xla evaluates constants.
absl::StatusOr<xla::LocalClient*> EvaluationClient() {
  static const auto* client = new absl::StatusOr<xla::LocalClient*>([]() -> absl::StatusOr<xla::LocalClient*> {
    HPU_ASSIGN_OR_RETURN(auto* platform, xla::PlatformUtil::GetPlatform("Host"));
    xla::LocalClientOptions options;
    options.set_platform(platform);
    return xla::ClientLibrary::GetOrCreateLocalClient(options);
  }());
  return *client;
}

}  // namespace

absl::StatusOr<tensorflow::XlaCompilationResult> CompileToHlo(const CompilationInput& input,
                                                              absl::Span<const tensorflow::XlaArgument> arguments) {
  XlaCompiler::Options options;
  HPU_ASSIGN_OR_RETURN(options.client, EvaluationClient());
  options.device_type = tensorflow::DeviceType(input.device_type);
  options.flib_def = input.library;
  options.graph_def_version = input.graph_def_version;
  options.allow_cpu_custom_calls = true;
  options.detailed_logging = false;
  XlaCompiler compiler(options);
  XlaCompiler::CompileOptions compile_options;
  compile_options.alias_resource_update = true;
  tensorflow::XlaCompilationResult result;
  if (input.node == nullptr) {
    HPU_RETURN_IF_ERROR(compiler.CompileFunction(compile_options, *input.function, arguments, &result));
  } else {
    XlaCompiler::SingleOpCompileArgument op;
    op.node_def = *input.node;
    op.output_dtypes = input.node_outputs;
    HPU_RETURN_IF_ERROR(compiler.CompileSingleOp(compile_options, op, arguments, &result));
  }
  return result;
}

bool UsesStackOrTensorArray(const std::string& op) {
  const auto* resource = tensorflow::GetResourceOpInfoForOp(op);
  return resource != nullptr && resource->resource_kind() != tensorflow::XlaResourceKind::kVariable;
}

}  // namespace hpu
