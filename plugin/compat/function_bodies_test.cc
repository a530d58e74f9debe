#include "plugin/compat/function_bodies.h"

#include <string>

#include "absl/algorithm/container.h"
#include "gtest/gtest.h"
#include "plugin/compat/function_runtimes.h"

namespace hpu {
namespace function_bodies_test {

using tensorflow::FunctionDefHelper;
using tensorflow::Graph;
using tensorflow::NameAttrList;
using tensorflow::Node;
using tensorflow::NodeDef;

tensorflow::FunctionDef Doubled() {
  return FunctionDefHelper::Create("Doubled", {"x: float"}, {"y: float"}, {},
                                   {{{"sum"}, "AddV2", {"x", "x"}, {{"T", tensorflow::DT_FLOAT}}}}, {{"y", "sum:z:0"}});
}

class FunctionBodiesTest : public testing::Test {
 protected:
  FunctionBodiesTest() : library_(tensorflow::OpRegistry::Global()) {
    EXPECT_TRUE(library_.AddFunctionDef(Doubled()).ok());
    name_.set_name("Doubled");
    missing_.set_name("Missing");
  }

  // Adds a node that calls the function of this name on a placeholder.
  static Node* AddCall(const std::string& function, Graph* graph) {
    NodeDef source;
    source.set_name("source");
    source.set_op("Placeholder");
    (*source.mutable_attr())["dtype"].set_type(tensorflow::DT_FLOAT);
    NodeDef call;
    call.set_name("call");
    call.set_op("PartitionedCall");
    call.add_input("source");
    (*call.mutable_attr())["f"].mutable_func()->set_name(function);
    (*call.mutable_attr())["Tin"].mutable_list()->add_type(tensorflow::DT_FLOAT);
    (*call.mutable_attr())["Tout"].mutable_list()->add_type(tensorflow::DT_FLOAT);
    tensorflow::Status status;
    Node* const from = graph->AddNode(source, &status);
    EXPECT_TRUE(status.ok()) << status;
    Node* const to = graph->AddNode(call, &status);
    EXPECT_TRUE(status.ok()) << status;
    graph->AddEdge(from, 0, to, 0);
    return to;
  }

  static bool HasOp(const Graph& graph, const std::string& op) {
    return absl::c_any_of(graph.op_nodes(), [&](const Node* node) { return node->type_string() == op; });
  }

  tensorflow::FunctionLibraryDefinition library_;
  NameAttrList name_;
  NameAttrList missing_;
};

TEST_F(FunctionBodiesTest, ABodyHasTheNodesOfTheFunction) {
  const auto body = MakeFunctionBody(name_, library_);
  ASSERT_TRUE(body.ok()) << body.status();
  ASSERT_EQ((*body)->arg_nodes.size(), 1);
  ASSERT_EQ((*body)->ret_nodes.size(), 1);
  EXPECT_EQ((*body)->arg_types, tensorflow::DataTypeVector{tensorflow::DT_FLOAT});
  EXPECT_EQ((*body)->ret_types, tensorflow::DataTypeVector{tensorflow::DT_FLOAT});
  EXPECT_TRUE((*body)->control_ret_nodes.empty());
  EXPECT_TRUE(HasOp(*(*body)->graph, "AddV2"));
  EXPECT_TRUE(MakeFunctionBody(*library_.Find("Doubled"), library_).ok());
}

TEST_F(FunctionBodiesTest, AMissingFunctionIsNotFound) {
  const absl::Status status = MakeFunctionBody(missing_, library_).status();
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_EQ(status.message(),
            "function Missing is not in the function library; save the graph together with its functions");
}

TEST_F(FunctionBodiesTest, ARuntimeInstantiatesBodies) {
  const AnalysisRuntime runtime(&library_);
  const auto body = InstantiateBody("Doubled", tensorflow::AttrSlice(), runtime.get());
  ASSERT_TRUE(body.ok()) << body.status();
  EXPECT_TRUE(HasOp(*(*body)->graph, "AddV2"));
  EXPECT_FALSE(InstantiateBody("Missing", tensorflow::AttrSlice(), runtime.get()).ok());
}

TEST_F(FunctionBodiesTest, ACallIsReplacedByTheNodesOfItsFunction) {
  Graph graph(library_);
  Node* const call = AddCall("Doubled", &graph);
  EXPECT_EQ(CalledFunction(call->def())->name(), "Doubled");
  const absl::StatusOr<bool> inlined = InlineCall(call, &graph, library_);
  ASSERT_TRUE(inlined.ok()) << inlined.status();
  EXPECT_TRUE(*inlined);
  EXPECT_TRUE(HasOp(graph, "AddV2"));
  EXPECT_FALSE(HasOp(graph, "PartitionedCall"));
}

TEST_F(FunctionBodiesTest, ACallOfAMissingFunctionStays) {
  Graph graph(library_);
  const absl::StatusOr<bool> inlined = InlineCall(AddCall("Missing", &graph), &graph, library_);
  ASSERT_TRUE(inlined.ok()) << inlined.status();
  EXPECT_FALSE(*inlined);
  EXPECT_TRUE(HasOp(graph, "PartitionedCall"));
}

}  // namespace function_bodies_test
}  // namespace hpu
