#include "plugin/passes/precision/bf16_pass.h"

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/flags/flags.h"
#include "plugin/base/status_macros.h"
#include "plugin/passes/functions/function_rewriter.h"
#include "plugin/passes/precision/bf16_assignment.h"
#include "plugin/passes/precision/bf16_casts.h"
#include "plugin/passes/precision/bf16_settings.h"
#include "plugin/passes/precision/float16_advice.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/platform/logging.h"
#include "tensorflow/core/util/dump_graph.h"

namespace hpu::passes {
namespace {

using tensorflow::Graph;
using tensorflow::Node;

// The program's own cast of a variable to a 16-bit type, as in Keras's mixed policies, or null.
const Node* FindOwnMixedPrecision(const Graph& graph) {
  for (const Node* node : graph.op_nodes()) {
    if (node->type_string() != "Cast" || node->attrs().Find(kBf16CastAttr) != nullptr) continue;
    const tensorflow::DataType type = node->output_type(0);
    if (type != tensorflow::DT_BFLOAT16 && type != tensorflow::DT_HALF) continue;
    const Node* source = node;
    do {
      if (!source->input_node(0, &source).ok()) break;
    } while (source->IsIdentity());
    if (source->type_string() == "ReadVariableOp") return node;
  }
  return nullptr;
}

absl::StatusOr<bool> ConvertNode(PassContext* context, const Bf16Config& config, Graph* graph,
                                 const FunctionRewriter::NodeFilter& filter, const std::string& prefix) {
  if (const Node* own = FindOwnMixedPrecision(*graph); own != nullptr) {
    LOG(WARNING)
        << "TF_BF16_CONVERSION does not convert graph " << context->graph_name
        << ": the program already casts variables to 16-bit types (" << own->name()
        << "), as tf.keras.mixed_precision does. Use either TF_BF16_CONVERSION or the program's casts, not both.";
    return false;
  }
  const std::vector<Bf16Conversion> conversions = AssignBf16(*graph, config, filter);
  for (const Bf16Conversion& conversion : conversions) {
    SetBf16Types(conversion.types, conversion.node);
    AddRewrite(&context->report, absl::StrCat(prefix, conversion.node->name()), conversion.node->type_string(), "bf16",
               absl::StrCat("float32 to bfloat16, by ", conversion.list));
    VLOG(2) << conversion.node->name() << " (" << conversion.node->type_string() << ") becomes bfloat16, by "
            << conversion.list;
  }
  VLOG(1) << context->graph_name << " " << prefix << ": " << conversions.size() << " nodes to bfloat16";
  if (conversions.empty()) return false;
  HPU_RETURN_IF_ERROR(InsertBf16Casts(graph));
  return true;
}

// Writes the graph to the directory TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_LOG_PATH, if set.
void Log(const PassContext& context, const char* when) {
  const std::string directory = flags::TfAutoMixedPrecisionGraphRewriteLogPath();
  if (directory.empty()) return;
  tensorflow::DumpGraphToFile(absl::StrCat("bf16_", context.graph_name, "_", when), **context.graph, context.library,
                              directory);
}

}  // namespace

absl::Status ConvertToBf16(PassContext* context) {
  AdviseOnFloat16(**context->graph);
  HPU_ASSIGN_OR_RETURN(const std::shared_ptr<const Bf16Config> config,
                       ActiveBf16Config(context->settings.auto_mixed_precision));
  if (config == nullptr) return absl::OkStatus();
  tensorflow::XlaOpRegistry::RegisterCompilationKernels();
  Log(*context, "before");
  FunctionRewriter rewriter(context, "_bf16",
                            [&](Graph* graph, const FunctionRewriter::NodeFilter& filter, const std::string& prefix) {
                              return ConvertNode(context, *config, graph, filter, prefix);
                            });
  HPU_RETURN_IF_ERROR(rewriter.Run());
  Log(*context, "after");
  return absl::OkStatus();
}

}  // namespace hpu::passes
