#include "plugin/compat/cluster_compilation.h"

#include <vector>

#include "gtest/gtest.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/public/version.h"

namespace hpu {
namespace cluster_compilation_test {

using tensorflow::DT_FLOAT;
using tensorflow::FunctionDefHelper;
using tensorflow::XlaArgument;

XlaArgument Parameter() {
  XlaArgument argument;
  argument.kind = XlaArgument::kParameter;
  argument.type = DT_FLOAT;
  argument.shape = tensorflow::TensorShape({2, 3});
  return argument;
}

class ClusterCompilationTest : public testing::Test {
 protected:
  ClusterCompilationTest() : library_(tensorflow::OpRegistry::Global()) {
    tensorflow::XlaOpRegistry::RegisterCompilationKernels();
    input_.device_type = "XLA_CPU_JIT";
    input_.library = &library_;
    input_.graph_def_version = TF_GRAPH_DEF_VERSION;
  }

  tensorflow::FunctionLibraryDefinition library_;
  CompilationInput input_;
};

TEST_F(ClusterCompilationTest, AnOpIsCompiledToHlo) {
  tensorflow::NodeDef node;
  node.set_name("sum");
  node.set_op("AddV2");
  node.add_input("x");
  node.add_input("y");
  (*node.mutable_attr())["T"].set_type(DT_FLOAT);
  input_.node = &node;
  input_.node_outputs = {DT_FLOAT};
  const auto result = CompileToHlo(input_, {Parameter(), Parameter()});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->input_mapping, (std::vector<int>{0, 1}));
  ASSERT_EQ(result->outputs.size(), 1);
  EXPECT_EQ(result->outputs[0].shape, tensorflow::TensorShape({2, 3}));
  EXPECT_GT(result->computation->proto().computations_size(), 0);
  EXPECT_EQ(result->xla_output_shape.tuple_shapes_size(), 1);
}

TEST_F(ClusterCompilationTest, ConstantArgumentsAreNoParametersOfTheProgram) {
  ASSERT_TRUE(library_
                  .AddFunctionDef(FunctionDefHelper::Create("Added", {"x: float", "y: float"}, {"z: float"}, {},
                                                            {{{"sum"}, "AddV2", {"x", "y"}, {{"T", DT_FLOAT}}}},
                                                            {{"z", "sum:z:0"}}))
                  .ok());
  tensorflow::NameAttrList name;
  name.set_name("Added");
  input_.function = &name;
  XlaArgument constant;
  constant.kind = XlaArgument::kConstant;
  constant.type = DT_FLOAT;
  constant.constant_value = tensorflow::Tensor(1.5f);
  const auto result = CompileToHlo(input_, {constant, Parameter()});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->input_mapping, std::vector<int>{1});
  ASSERT_EQ(result->outputs.size(), 1);
  EXPECT_EQ(result->outputs[0].type, DT_FLOAT);
}

TEST_F(ClusterCompilationTest, StacksAndTensorArraysAreNoArrays) {
  EXPECT_TRUE(UsesStackOrTensorArray("StackPushV2"));
  EXPECT_TRUE(UsesStackOrTensorArray("TensorArrayV3"));
  EXPECT_FALSE(UsesStackOrTensorArray("ReadVariableOp"));
  EXPECT_FALSE(UsesStackOrTensorArray("AddV2"));
}

}  // namespace cluster_compilation_test
}  // namespace hpu
