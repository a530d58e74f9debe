#include "plugin/testing/recipe_harness.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "xla/client/client_library.h"
#include "xla/client/local_client.h"
#include "xla/primitive_util.h"
#include "xla/service/platform_util.h"
#include "xla/service/shaped_buffer.h"

namespace hpu::emulator {

TestBuffer::TestBuffer(uint64_t bytes) : bytes_(bytes), storage_(new char[AlignUp(bytes) + hal::kDeviceAlignment]) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(storage_.get());
  aligned_ = storage_.get() + (hal::kDeviceAlignment - address % hal::kDeviceAlignment);
  // A pattern that shows unwritten bytes.
  std::memset(aligned_, 0xa5, bytes);
}

TestBuffer::TestBuffer(absl::string_view contents) : TestBuffer(contents.size()) {
  std::memcpy(aligned_, contents.data(), contents.size());
}

hal::Program ProgramOf(const xla::XlaComputation& computation) {
  return {"test", computation.proto().SerializeAsString()};
}

std::vector<std::string> RunRecipe(const EmulatorRecipe& recipe, const std::vector<xla::Literal>& arguments,
                                   ComputePool& pool) {
  std::vector<TestBuffer> buffers;
  std::vector<void*> inputs, outputs;
  for (const xla::Literal& argument : arguments) {
    buffers.emplace_back(BytesOf(argument));
    inputs.push_back(buffers.back().data());
  }
  for (const hal::ResultSpec& result : recipe.results()) {
    if (result.aliased_argument >= 0) {
      outputs.push_back(inputs[result.aliased_argument]);
      continue;
    }
    buffers.emplace_back(result.spec.bytes);
    outputs.push_back(buffers.back().data());
  }
  TestBuffer workspace(recipe.workspace_bytes());
  absl::Status status = recipe.Run(inputs, outputs, workspace.data(), pool);
  EXPECT_TRUE(status.ok()) << status;
  std::vector<std::string> results;
  for (size_t i = 0; i < outputs.size(); ++i) {
    results.emplace_back(static_cast<const char*>(outputs[i]), recipe.results()[i].spec.bytes);
  }
  return results;
}

std::vector<std::string> RunRecipe(const EmulatorRecipe& recipe, const std::vector<xla::Literal>& arguments) {
  static auto* pool = new ComputePool;
  return RunRecipe(recipe, arguments, *pool);
}

std::vector<std::string> RunJit(const xla::XlaComputation& computation, const std::vector<xla::Literal>& arguments) {
  static auto* client =
      xla::ClientLibrary::GetOrCreateLocalClient(xla::PlatformUtil::GetPlatform("Host").value()).value();
  std::vector<xla::Shape> shapes;
  std::vector<const xla::Shape*> shape_pointers;
  std::vector<xla::ScopedShapedBuffer> buffers;
  std::vector<const xla::ShapedBuffer*> buffer_pointers;
  for (const xla::Literal& argument : arguments) {
    buffers.push_back(client->LiteralToShapedBuffer(argument, 0).value());
    shapes.push_back(argument.shape());
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    shape_pointers.push_back(&shapes[i]);
    buffer_pointers.push_back(&buffers[i]);
  }
  auto executables = client->Compile(computation, shape_pointers, xla::ExecutableBuildOptions()).value();
  xla::ExecutableRunOptions options;
  options.set_allocator(client->backend().memory_allocator());
  options.set_intra_op_thread_pool(client->backend().eigen_intra_op_thread_pool_device());
  xla::ScopedShapedBuffer output = executables[0]->Run(buffer_pointers, options).value();
  std::vector<std::string> results;
  for (const xla::Literal& element : client->ShapedBufferToLiteral(output).value().DecomposeTuple()) {
    results.push_back(BytesOf(element));
  }
  return results;
}

xla::Literal Numbers(const xla::Shape& shape, uint32_t seed) {
  std::minstd_rand random(seed + 1);
  xla::Literal literal(shape);
  char* bytes = static_cast<char*>(literal.untyped_data());
  if (xla::primitive_util::IsFloatingPointType(shape.element_type()) ||
      xla::primitive_util::IsComplexType(shape.element_type())) {
    // Generates float32 and converts it, so that all element types have similar values.
    std::uniform_real_distribution<float> uniform(-1, 1);
    xla::Literal floats(xla::ShapeUtil::ChangeElementType(shape, xla::F32));
    for (float& value : floats.data<float>()) value = uniform(random);
    return floats.Convert(shape.element_type()).value();
  }
  for (int64_t i = 0; i < literal.size_bytes(); ++i) {
    bytes[i] = static_cast<char>(shape.element_type() == xla::PRED ? random() & 1 : random() >> 8);
  }
  return literal;
}

std::vector<xla::Literal> ArgumentsOf(const xla::XlaComputation& computation) {
  std::vector<xla::Literal> arguments;
  xla::ProgramShape shape = computation.GetProgramShape().value();
  for (int i = 0; i < shape.parameters_size(); ++i) arguments.push_back(Numbers(shape.parameters(i), i));
  return arguments;
}

void ExpectSameFromDisk(const xla::XlaComputation& computation) {
  const std::vector<xla::Literal> arguments = ArgumentsOf(computation);
  auto recipe = CompileRecipe(ProgramOf(computation));
  ASSERT_TRUE(recipe.ok()) << recipe.status();
  auto loaded = LoadRecipe("loaded", (*recipe)->Serialize().value());
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_TRUE(RunRecipe(**loaded, arguments) == RunRecipe(**recipe, arguments));
}

std::string BytesOf(const xla::Literal& literal) {
  return std::string(static_cast<const char*>(literal.untyped_data()), literal.size_bytes());
}

}  // namespace hpu::emulator
