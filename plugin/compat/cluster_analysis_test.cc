#include "plugin/compat/cluster_analysis.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "plugin/compat/function_bodies.h"
#include "plugin/compat/function_runtimes.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/graph/algorithm.h"
#include "tensorflow/core/graph/node_builder.h"

namespace hpu {
namespace cluster_analysis_test {

using tensorflow::DT_BOOL;
using tensorflow::DT_FLOAT;
using tensorflow::DT_INT32;
using tensorflow::DT_STRING;
using tensorflow::FunctionDefHelper;
using tensorflow::Graph;
using tensorflow::Node;
using tensorflow::NodeBuilder;

class ClusterAnalysisTest : public testing::Test {
 protected:
  ClusterAnalysisTest() : library_(tensorflow::OpRegistry::Global()), runtime_(&library_), graph_(library_) {
    tensorflow::XlaOpRegistry::RegisterCompilationKernels();
  }

  Node* Add(NodeBuilder builder) {
    Node* node = nullptr;
    const tensorflow::Status status = builder.Finalize(&graph_, &node);
    EXPECT_TRUE(status.ok()) << status;
    return node;
  }

  Node* AddPlaceholder(const std::string& name, tensorflow::DataType type) {
    return Add(NodeBuilder(name, "Placeholder").Attr("dtype", type));
  }

  tensorflow::FunctionLibraryDefinition library_;
  const AnalysisRuntime runtime_;
  Graph graph_;
};

TEST_F(ClusterAnalysisTest, TheShapeOfAReshapeIsACompileTimeConstant) {
  ASSERT_TRUE(library_
                  .AddFunctionDef(FunctionDefHelper::Create(
                      "Reshaped", {"x: float", "shape: int32"}, {"y: float"}, {},
                      {{{"reshape"}, "Reshape", {"x", "shape"}, {{"T", DT_FLOAT}, {"Tshape", DT_INT32}}}},
                      {{"y", "reshape:output:0"}}))
                  .ok());
  tensorflow::NameAttrList name;
  name.set_name("Reshaped");
  const absl::StatusOr<FunctionConstants> found = FindFunctionConstants(name, runtime_.get());
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->constants, std::vector<int>{1});
  EXPECT_EQ(found->body->arg_types.size(), 2);
  const auto arguments = FindConstantArguments(*found->body->graph, 2, runtime_.get());
  ASSERT_TRUE(arguments.ok()) << arguments.status();
  EXPECT_EQ(*arguments, (std::vector<bool>{false, true}));
}

TEST_F(ClusterAnalysisTest, AnOpWithoutLoweringIsNotCompilable) {
  const CompilabilityChecker checker("XLA_CPU_JIT");
  Node* const number = AddPlaceholder("number", DT_FLOAT);
  EXPECT_EQ(checker.WhyNotCompilable(*Add(NodeBuilder("sum", "AddV2").Input(number).Input(number)), runtime_.get()),
            std::nullopt);
  Node* const text = AddPlaceholder("text", DT_STRING);
  const auto reason = checker.WhyNotCompilable(*Add(NodeBuilder("lower", "StringLower").Input(text)), runtime_.get());
  ASSERT_TRUE(reason.has_value());
  EXPECT_NE(*reason, "");
}

TEST_F(ClusterAnalysisTest, NodesBehindTheOutputsOfASwitchHaveDifferentPredicates) {
  Node* const branch =
      Add(NodeBuilder("switch", "Switch").Input(AddPlaceholder("x", DT_FLOAT)).Input(AddPlaceholder("p", DT_BOOL)));
  Node* const first = Add(NodeBuilder("first", "Neg").Input(branch, 0));
  Node* const second = Add(NodeBuilder("second", "Neg").Input(branch, 0));
  Node* const other = Add(NodeBuilder("other", "Neg").Input(branch, 1));
  tensorflow::FixupSourceAndSinkEdges(&graph_);
  const absl::StatusOr<Deadness> deadness = Deadness::Analyze(graph_);
  ASSERT_TRUE(deadness.ok()) << deadness.status();
  EXPECT_EQ(*deadness->PredicateOf(first), *deadness->PredicateOf(second));
  EXPECT_NE(*deadness->PredicateOf(first), *deadness->PredicateOf(other));
}

}  // namespace cluster_analysis_test
}  // namespace hpu
