#include "plugin/backends/emulator/codegen/loaded_code.h"

#include <cstdint>
#include <string>
#include <utility>

#include "plugin/backends/emulator/codegen/code_generator.h"
#include "plugin/backends/emulator/codegen/thunks/thunk_program.h"
#include "plugin/base/status_macros.h"
#include "xla/backends/cpu/runtime/custom_call_thunk.h"
#include "xla/service/cpu/cpu_aot_loader.h"

namespace hpu::emulator {
namespace {

void AddSteps(const xla::cpu::ThunkSequence& thunks, std::vector<xla::cpu::Thunk*>* steps) {
  for (const std::unique_ptr<xla::cpu::Thunk>& thunk : thunks) {
    if (thunk->kind() == xla::cpu::Thunk::Kind::kCall) {
      for (const auto& [name, called] : thunk->nested_thunks()) AddSteps(*called, steps);
    } else {
      steps->push_back(thunk.get());
    }
  }
}

// XLA's loader leaves CustomCallThunk::OpBuffers::is_tuple_result unset: it is not part of the serialised thunk.
// Kernels expect a table of addresses for several results, and the address of a single one.
void SetKindsOfResults(const xla::cpu::ThunkSequence& thunks) {
  thunks.ForEach([](const xla::cpu::Thunk& thunk) {
    if (thunk.kind() != xla::cpu::Thunk::Kind::kCustomCall) return;
    using xla::cpu::CustomCallThunk;
    auto& buffers = const_cast<CustomCallThunk::OpBuffers&>(static_cast<const CustomCallThunk&>(thunk).op_buffers());
    buffers.is_tuple_result = buffers.results_buffers.size() > 1;
  });
}

absl::StatusOr<std::unique_ptr<ThunkProgram>> LoadProgram(absl::string_view code) {
  auto program = std::make_unique<ThunkProgram>();
  HPU_ASSIGN_OR_RETURN(std::unique_ptr<xla::Executable> executable,
                       xla::cpu::CpuAotLoader::LoadExecutable(std::string(code)));
  program->executable.reset(static_cast<xla::cpu::CpuExecutable*>(executable.release()));
  const xla::cpu::ThunkSequence& thunks = program->executable->thunks().thunk_sequence();
  SetKindsOfResults(thunks);
  AddSteps(thunks, &program->steps);
  const xla::BufferAssignment& buffers = program->executable->buffer_assignment();
  program->constants.resize(buffers.Allocations().size());
  for (const xla::cpu::ConstantAllocation& constant : program->executable->constants()) {
    if (constant.index >= 0) program->constants.at(constant.index) = constant.AsDeviceAddress();
  }
  const xla::HloInstruction* const root = program->executable->module().entry_computation()->root_instruction();
  const bool is_tuple = root->shape().IsTuple();
  for (int64_t i = 0; i < (is_tuple ? root->shape().tuple_shapes_size() : 1); ++i) {
    HPU_ASSIGN_OR_RETURN(const xla::BufferAllocation::Slice slice,
                         buffers.GetUniqueSlice(root, is_tuple ? xla::ShapeIndex{i} : xla::ShapeIndex{}));
    program->results.push_back({static_cast<size_t>(slice.index()), static_cast<size_t>(slice.offset())});
  }
  return program;
}

class ThunkCode final : public LoadedCode {
 public:
  explicit ThunkCode(std::unique_ptr<ThunkProgram> program) : program_(std::move(program)) {}

  void* entry() const override { return program_.get(); }
  void AddFunctions(const RecipeParts&, RecipeKernels*) const override {}  // thunks call none

 private:
  const std::unique_ptr<ThunkProgram> program_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<LoadedCode>> LoadedCode::Load(const RecipeParts& parts) {
  XlaCompiler();  // registers the function that runs kernels
  if (!parts.functions.empty()) {
    return absl::InvalidArgumentError("the recipe has functions, which thunks do not call; recompile the program");
  }
  HPU_ASSIGN_OR_RETURN(std::unique_ptr<ThunkProgram> program, LoadProgram(parts.object));
  return std::make_unique<ThunkCode>(std::move(program));
}

}  // namespace hpu::emulator
