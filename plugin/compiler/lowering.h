// Lowering: translates a cluster and its arguments to a program for a backend.
#ifndef HPU_PLUGIN_COMPILER_LOWERING_H_
#define HPU_PLUGIN_COMPILER_LOWERING_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/compiler/executable.h"
#include "plugin/hal/recipe.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/node_def.pb.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"

namespace hpu {

// Kind, dtype, shape and known value of one argument of a cluster.
struct ArgumentDescription {
  enum class Kind { kParameter, kConstant, kVariable };
  Kind kind = Kind::kParameter;
  tensorflow::DataType dtype = tensorflow::DT_INVALID;  // of a variable: dtype of its value
  tensorflow::TensorShape shape;                        // of a variable: shape of its value
  tensorflow::Tensor constant;                          // kConstant: the value, in host memory
  bool initialized = true;                              // kVariable: whether the variable has a value
  int same_as = -1;  // kVariable: the first argument with the same variable, or -1 for that argument
};

// Input of Lower: a function of the library, or a single op if `node` is set. Borrowed pointers.
struct ClusterSource {
  std::string name;  // for messages; also names the program
  tensorflow::NameAttrList function;
  const tensorflow::NodeDef* node = nullptr;
  std::vector<tensorflow::DataType> node_outputs;  // dtypes of the single op's outputs
  const tensorflow::FunctionLibraryDefinition* library = nullptr;
  int graph_def_version = 0;
  bool dynamic_results = false;  // whether result sizes may depend on data
};

struct BoundedArguments;  // bounded_arguments.h
class SizeArithmetic;     // dynamic_shapes/size_arithmetic.h

struct Lowered {
  hal::Program program;
  Executable executable;  // without the recipe
  // Of LowerBounded: computes the sizes of results of dynamic shape from the symbols; null if there are none.
  std::shared_ptr<const SizeArithmetic> result_sizes;
  // Of LowerBounded: conditions that the symbols of a launch must satisfy.
  std::vector<std::shared_ptr<const SizeArithmetic>> conditions;
};

// Translates a cluster to HLO. The program has static shapes only; the executable describes the sizes of dynamic
// results. Fails with tf2xla's errors, which name the failing node. Fails with UNIMPLEMENTED for results whose size
// depends on data, unless the source allows dynamic results. Also fails with UNIMPLEMENTED for results that cannot
// leave a program (tensor lists). A crash in tf2xla becomes an error that satisfies containment::IsCrash. Thread safe.
absl::StatusOr<Lowered> Lower(const ClusterSource& source, const std::vector<ArgumentDescription>& arguments);

// Like Lower, for arguments whose symbolic numbers differ from launch to launch. The program's arrays have the maximum
// sizes. The executable has one more argument after the kernel's inputs: the symbols' values. Fails with
// UNIMPLEMENTED if an op does not support dynamic sizes, if the size of a result depends on more than the symbols, or
// if a variable gets a value of dynamic shape; with INVALID_ARGUMENT if two sizes cannot be proven equal.
absl::StatusOr<Lowered> LowerBounded(const ClusterSource& source, const BoundedArguments& arguments);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_LOWERING_H_
