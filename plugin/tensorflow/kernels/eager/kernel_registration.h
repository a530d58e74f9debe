// HPU kernel definitions, derived from an op's kernels for other devices.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_KERNEL_REGISTRATION_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_KERNEL_REGISTRATION_H_

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tensorflow/core/framework/kernel_def.pb.h"
#include "tensorflow/core/framework/op_def.pb.h"
#include "tensorflow/core/framework/types.h"

namespace hpu {

// The attributes that set the types of an op's arguments.
std::vector<const tensorflow::OpDef::AttrDef*> TypeAttributes(const tensorflow::OpDef& op);

// The types that a kernel allows for an attribute.
std::vector<tensorflow::DataType> AllowedTypes(const tensorflow::KernelDef& kernel,
                                               const tensorflow::OpDef::AttrDef& attribute);

// Sets a kernel's constraint on an attribute.
void Constrain(tensorflow::KernelDef* kernel, const std::string& attribute,
               const std::vector<tensorflow::DataType>& types);

// Declares host memory for compile-time constants, resources and int32 arguments. `int32_attributes`: the type
// attributes that are int32 in this registration.
void SetHostMemory(const tensorflow::OpDef& op, const std::set<std::string>& int32_attributes,
                   tensorflow::KernelDef* kernel);

// Registers an EagerKernel with this definition.
void RegisterEagerKernel(std::unique_ptr<tensorflow::KernelDef> kernel);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_KERNEL_REGISTRATION_H_
