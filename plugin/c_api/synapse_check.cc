// SynapseAI check function of the C interface.
#include "plugin/backends/gaudi/check/synapse_check.h"

#include <string>
#include <utility>

#include "hpu/report/v1/report.pb.h"
#include "plugin/base/status_macros.h"
#include "plugin/c_api/c_api.h"
#include "plugin/c_api/c_buffer.h"

namespace hpu {
namespace {

report::v1::SynapseGraph::Outcome ToMessage(gaudi::CheckOutcome outcome) {
  switch (outcome) {
    case gaudi::CheckOutcome::kRunning:
      return report::v1::SynapseGraph::RUNNING;
    case gaudi::CheckOutcome::kOk:
      return report::v1::SynapseGraph::OK;
    case gaudi::CheckOutcome::kRefused:
      return report::v1::SynapseGraph::REFUSED;
    case gaudi::CheckOutcome::kNotInRelease:
      return report::v1::SynapseGraph::NOT_IN_RELEASE;
    case gaudi::CheckOutcome::kNoExample:
      return report::v1::SynapseGraph::NO_EXAMPLE;
    case gaudi::CheckOutcome::kNotLowered:
      return report::v1::SynapseGraph::NOT_LOWERED;
    case gaudi::CheckOutcome::kNoProgram:
      return report::v1::SynapseGraph::NO_PROGRAM;
  }
  return report::v1::SynapseGraph::RUNNING;
}

// Passes each step to a callback.
class StepWriter final : public gaudi::CheckListener {
 public:
  explicit StepWriter(hpu_step_callback on_step) : on_step_(on_step) {}

  void OnLibrary(const gaudi::CheckedLibrary& library) override {
    report::v1::SynapseCheckStep step;
    report::v1::SynapseLibrary& message = *step.mutable_library();
    message.set_path(library.path);
    message.set_version(library.version);
    message.set_profile(library.profile);
    message.set_generation(library.generation);
    message.set_target(library.target);
    *message.mutable_missing_functions() = {library.missing_functions.begin(), library.missing_functions.end()};
    message.set_graphs(static_cast<int64_t>(library.graphs));
    Write(step);
  }

  void OnGraph(const gaudi::CheckedGraph& graph) override {
    report::v1::SynapseCheckStep step;
    report::v1::SynapseGraph& message = *step.mutable_graph();
    message.set_index(static_cast<int64_t>(graph.index));
    message.set_stem(graph.stem);
    message.set_type(graph.type);
    message.set_name(graph.name);
    message.set_plan(graph.plan);
    message.set_outcome(ToMessage(graph.outcome));
    message.set_reason(graph.reason);
    Write(step);
  }

 private:
  void Write(const report::v1::SynapseCheckStep& step) {
    const std::string bytes = step.SerializeAsString();
    on_step_(bytes.data(), bytes.size());
  }

  const hpu_step_callback on_step_;
};

absl::Status CheckSynapse(const char* library, absl::string_view generation, const char* programs, int64_t first,
                          hpu_step_callback on_step) {
  gaudi::CheckOptions options;
  options.library = library;
  options.programs = programs;
  options.first = static_cast<size_t>(first);
  if (!generation.empty()) {
    HPU_ASSIGN_OR_RETURN(options.generation, gaudi::GenerationOfName(generation));
  }
  StepWriter writer(on_step);
  return gaudi::CheckSynapse(options, &writer);
}

}  // namespace
}  // namespace hpu

int32_t hpu_synapse_check(const char* library, const char* generation, const char* programs, int64_t first,
                          hpu_step_callback on_step, hpu_buffer* out) {
  return hpu::ReportStatus(hpu::CheckSynapse(library, generation, programs, first, on_step), out);
}
