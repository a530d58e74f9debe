#include "plugin/backends/gaudi/check/synapse_check.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "plugin/backends/gaudi/check/example_nodes.h"
#include "plugin/backends/gaudi/check/program_file.h"
#include "plugin/backends/gaudi/guids/usable_guid.h"
#include "plugin/testing/gaudi_double.h"
#include "xla/hlo/parser/hlo_parser.h"

namespace hpu::gaudi::synapse_check_test {

using synapse::Generation;

class Collector final : public CheckListener {
 public:
  void OnLibrary(const CheckedLibrary& library) override { library_ = library; }
  void OnGraph(const CheckedGraph& graph) override {
    if (graph.outcome != CheckOutcome::kRunning) graphs_.push_back(graph);
  }

  const CheckedLibrary& library() const { return library_; }
  const std::vector<CheckedGraph>& graphs() const { return graphs_; }
  std::vector<CheckedGraph> With(CheckOutcome outcome) const {
    std::vector<CheckedGraph> found;
    for (const CheckedGraph& graph : graphs_) {
      if (graph.outcome == outcome) found.push_back(graph);
    }
    return found;
  }

 private:
  CheckedLibrary library_;
  std::vector<CheckedGraph> graphs_;
};

class SynapseCheckTest : public DoubleTest {
 protected:
  SynapseCheckTest() {
    Set("SYNAPSE_DOUBLE_STRICT", "log");
    options_.library = GetParam();
  }

  // The generations that the release supports.
  static std::vector<Generation> Generations() {
    std::vector<Generation> known = {Generation::kGaudi, Generation::kGaudi2};
    if (!Is_1_5()) known.push_back(Generation::kGaudi3);
    return known;
  }
  static bool Is_1_5() { return absl::StrContains(GetParam(), "1.5"); }

  // A folder for programs, which is deleted after the test.
  std::filesystem::path Folder() {
    const std::filesystem::path folder = devices() / "programs";
    std::filesystem::create_directories(folder);
    return folder;
  }
  static void Write(const std::filesystem::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }

  CheckOptions options_;
};

TEST_P(SynapseCheckTest, EveryUsableNodeCompiles) {
  for (const Generation generation : Generations()) {
    options_.generation = generation;
    Collector collector;
    ASSERT_EQ(absl::OkStatus(), CheckSynapse(options_, &collector));
    EXPECT_GT(collector.graphs().size(), 300u);
    EXPECT_EQ(collector.graphs().size(), collector.library().graphs);
    std::set<std::string> stems;
    for (const CheckedGraph& graph : collector.graphs()) {
      EXPECT_EQ(CheckOutcome::kOk, graph.outcome) << graph.name << ": " << graph.reason << "\n" << graph.plan;
      EXPECT_TRUE(absl::StrContains(graph.plan, graph.name)) << graph.plan;
      stems.insert(graph.stem);
    }
    for (const Guid& guid : AllGuids()) {
      if (IsUsable(guid)) EXPECT_EQ(1u, stems.count(std::string(guid.stem))) << guid.stem;
    }
  }
}

TEST_P(SynapseCheckTest, ExamplesHaveOneNode) {
  const PlanTarget target = {Is_1_5() ? Generation::kGaudi : Generation::kGaudi2,
                             Is_1_5() ? synapse::Profile::k1_5 : synapse::Profile::k1_18};
  for (const TypedGuid& node : UsableGuids(target.generation)) {
    const auto plan = ExamplePlan(node, target);
    ASSERT_TRUE(plan.ok()) << plan.status();
    ASSERT_EQ(1u, plan->nodes.size()) << ToText(*plan);
    EXPECT_EQ(node.name(), plan->nodes.front().guid);
  }
}

TEST_P(SynapseCheckTest, DescribesTheLibrary) {
  Collector collector;
  ASSERT_EQ(absl::OkStatus(), CheckSynapse(options_, &collector));
  const CheckedLibrary& library = collector.library();
  EXPECT_EQ(Is_1_5() ? "1.5" : "1.18", library.profile);
  EXPECT_EQ(Is_1_5() ? "gaudi" : "gaudi2", library.generation);
  EXPECT_TRUE(absl::StartsWith(library.version, library.profile)) << library.version;
  EXPECT_TRUE(absl::StartsWith(library.target, library.generation)) << library.target;
}

TEST_P(SynapseCheckTest, AbsentComplexGuidsAreRefused) {
  Set("SYNAPSE_DOUBLE_COMPLEX_GUIDS", "0");
  Collector collector;
  ASSERT_EQ(absl::OkStatus(), CheckSynapse(options_, &collector));
  std::set<std::string> refused, complex;
  for (const CheckedGraph& graph : collector.With(CheckOutcome::kRefused)) {
    refused.insert(graph.stem);
    EXPECT_TRUE(absl::StrContains(graph.reason, "synFail (26)")) << graph.reason;
  }
  for (const Guid& guid : AllGuids()) {
    if (guid.may_be_complex && IsUsable(guid)) complex.insert(std::string(guid.stem));
  }
  EXPECT_EQ(complex, refused);
  EXPECT_FALSE(complex.empty());
}

TEST_P(SynapseCheckTest, RowsWithoutKnownOperandsHaveNoExample) {
  Set("HPU_GAUDI_UNPROVEN", "1");
  options_.generation = Is_1_5() ? Generation::kGaudi : Generation::kGaudi2;
  Collector collector;
  ASSERT_EQ(absl::OkStatus(), CheckSynapse(options_, &collector));
  // The double has no kernels for these guids.
  const std::set<std::string> without_kernel = {"asin_fwd", "cosh_fwd", "digamma_fwd"};
  std::set<std::string> refused;
  for (const CheckedGraph& graph : collector.With(CheckOutcome::kRefused)) {
    refused.insert(graph.stem);
    EXPECT_TRUE(absl::StrContains(graph.reason, "synUnsupported")) << graph.reason;
  }
  EXPECT_EQ(without_kernel, refused);
  EXPECT_TRUE(collector.With(CheckOutcome::kNotInRelease).empty());
  for (const CheckedGraph& graph : collector.With(CheckOutcome::kNoExample)) {
    EXPECT_TRUE(absl::StrContains(graph.reason, "unknown")) << graph.reason;
    for (const Guid& guid : AllGuids()) {
      if (guid.stem == graph.stem) EXPECT_FALSE(guid.is_proven) << graph.name;
    }
  }
  EXPECT_FALSE(collector.With(CheckOutcome::kNoExample).empty());
}

TEST_P(SynapseCheckTest, StartsAtAGraph) {
  Collector all, rest;
  ASSERT_EQ(absl::OkStatus(), CheckSynapse(options_, &all));
  options_.first = all.graphs().size() - 3;
  ASSERT_EQ(absl::OkStatus(), CheckSynapse(options_, &rest));
  ASSERT_EQ(3u, rest.graphs().size());
  EXPECT_EQ(all.graphs()[options_.first].name, rest.graphs().front().name);
  EXPECT_EQ(options_.first, rest.graphs().front().index);
}

TEST_P(SynapseCheckTest, ProgramsAreLoweredAndCompiled) {
  const char* sum = "HloModule sum\nENTRY e { x = f32[4] parameter(0) ROOT y = f32[4] add(x, x) }";
  auto parsed = xla::ParseAndReturnUnverifiedModule(sum);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  xla::HloProto dump;
  *dump.mutable_hlo_module() = (*parsed)->ToProto();
  Write(Folder() / "a_text.hlo", sum);
  Write(Folder() / "b_program.pb", dump.hlo_module().SerializeAsString());
  Write(Folder() / "c_dump.pb", dump.SerializeAsString());
  Write(Folder() / "d_fft.hlo",
        "HloModule fft\nENTRY e { x = c64[8] parameter(0) ROOT y = c64[8] fft(x), fft_type=FFT, fft_length={8} }");
  Write(Folder() / "e_noise.hlo", "noise");
  Write(Folder() / "ignored.txt", sum);
  options_.programs = Folder().string();
  options_.first = UsableGuids(Is_1_5() ? Generation::kGaudi : Generation::kGaudi2).size();
  Collector collector;
  ASSERT_EQ(absl::OkStatus(), CheckSynapse(options_, &collector));
  ASSERT_EQ(5u, collector.graphs().size());
  for (int i = 0; i < 3; ++i) {
    const CheckedGraph& graph = collector.graphs()[i];
    EXPECT_EQ(CheckOutcome::kOk, graph.outcome) << graph.reason;
    EXPECT_TRUE(absl::StrContains(graph.plan, "add_fwd_f32(argument0 f32{4}, argument0 f32{4})")) << graph.plan;
  }
  EXPECT_EQ(CheckOutcome::kNotLowered, collector.graphs()[3].outcome) << collector.graphs()[3].reason;
  EXPECT_EQ(CheckOutcome::kNoProgram, collector.graphs()[4].outcome);
  EXPECT_TRUE(absl::StrContains(collector.graphs()[4].reason, "e_noise.hlo")) << collector.graphs()[4].reason;
}

TEST_P(SynapseCheckTest, UnusableOptionsAreErrors) {
  Collector collector;
  CheckOptions options = options_;
  options.library = "/nowhere/libSynapse.so";
  ExpectError(CheckSynapse(options, &collector), absl::StatusCode::kFailedPrecondition, "/nowhere/libSynapse.so");
  options = options_;
  options.programs = "/nowhere/programs";
  ExpectError(CheckSynapse(options, &collector), absl::StatusCode::kNotFound, "/nowhere/programs");
  options.programs = Folder().string();
  ExpectError(CheckSynapse(options, &collector), absl::StatusCode::kNotFound, "*.hlo");
  ExpectError(GenerationOfName("goya").status(), absl::StatusCode::kInvalidArgument, "goya");
  if (Is_1_5()) {
    options = options_;
    options.generation = Generation::kGaudi3;
    ExpectError(CheckSynapse(options, &collector), absl::StatusCode::kUnimplemented, "gaudi3");
  }
  EXPECT_TRUE(collector.graphs().empty());
}

HPU_GAUDI_SUITE(SynapseCheckTest);

}  // namespace hpu::gaudi::synapse_check_test
