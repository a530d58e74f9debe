// ProgramTest: runs HLO programs on the Gaudi backend over the Synapse double, and compares the results with XLA's
// evaluator.
#ifndef HPU_PLUGIN_TESTING_GAUDI_PROGRAM_H_
#define HPU_PLUGIN_TESTING_GAUDI_PROGRAM_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/gaudi/plan/graph_plan.h"
#include "plugin/program/program_table.h"
#include "plugin/testing/gaudi_double.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/literal.h"

namespace hpu::gaudi {

// Parses HLO text. A root that is not a tuple becomes the only element of a tuple.
std::unique_ptr<xla::HloModule> ParseProgram(absl::string_view hlo);

// Random arguments for a module's entry: floats between -2 and 2, integers between -9 and 9 (unsigned: 0 to 18),
// booleans.
std::vector<xla::Literal> RandomArguments(const xla::HloModule& module, int seed = 0);

// Copies of literals.
template <typename... Literals>
std::vector<xla::Literal> ArgumentsOf(const Literals&... literals) {
  std::vector<xla::Literal> arguments;
  (arguments.push_back(literals.Clone()), ...);
  return arguments;
}

// Results of XLA's evaluator.
std::vector<xla::Literal> Evaluate(const xla::HloModule& module, const std::vector<xla::Literal>& arguments);

// Expects equal shapes and elements. Finite floats may differ by `tolerance` times the largest element or 1e-3,
// whichever is larger. NaN equals NaN.
void ExpectNear(const xla::Literal& got, const xla::Literal& want, double tolerance);

class ProgramTest : public GaudiDeviceTest {
 protected:
  struct LoweredProgram {
    ProgramTable table;
    GraphPlan plan;
  };

  // Lowers a program to a plan for the double's release and generation.
  absl::StatusOr<LoweredProgram> Lower(const xla::HloModule& module);
  absl::StatusOr<std::shared_ptr<const hal::Recipe>> Compile(const xla::HloModule& module);
  // Compiles and launches once. Copies the arguments to the device and the results back.
  absl::StatusOr<std::vector<xla::Literal>> Run(const xla::HloModule& module,
                                                const std::vector<xla::Literal>& arguments);
  absl::StatusOr<std::vector<xla::Literal>> Launch(const std::shared_ptr<const hal::Recipe>& recipe,
                                                   const xla::HloModule& module,
                                                   const std::vector<xla::Literal>& arguments);

  // Runs a program and compares its results with the evaluator's.
  void ExpectSameAsEvaluator(absl::string_view hlo, double tolerance = 1e-5);
  void ExpectSameAsEvaluator(absl::string_view hlo, const std::vector<xla::Literal>& arguments,
                             double tolerance = 1e-5);
  // Expects that the backend refuses the program as Unimplemented. Returns the error.
  absl::Status RefusalOf(absl::string_view hlo);
  // Like RefusalOf, and expects `part` in the message.
  void ExpectRefused(absl::string_view hlo, const std::string& part);
  // The text (GraphPlan's ToText) of a program's plan.
  std::string PlanOf(absl::string_view hlo);
};

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_TESTING_GAUDI_PROGRAM_H_
