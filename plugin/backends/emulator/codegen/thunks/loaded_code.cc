#include "plugin/backends/emulator/codegen/loaded_code.h"

#include <cstdint>
#include <string>
#include <utility>

#include "plugin/backends/emulator/codegen/code_generator.h"
#include "plugin/backends/emulator/codegen/thunks/thunk_program.h"
#include "plugin/base/status_macros.h"
#include "xla/service/cpu/cpu_aot_loader.h"

namespace hpu::emulator {
namespace {

absl::StatusOr<std::unique_ptr<ThunkProgram>> LoadProgram(absl::string_view code) {
  auto program = std::make_unique<ThunkProgram>();
  HPU_ASSIGN_OR_RETURN(std::unique_ptr<xla::Executable> executable,
                       xla::cpu::CpuAotLoader::LoadExecutable(std::string(code)));
  program->executable.reset(static_cast<xla::cpu::CpuExecutable*>(executable.release()));
  const xla::BufferAssignment& buffers = program->executable->buffer_assignment();
  program->constants.resize(buffers.Allocations().size());
  for (const xla::cpu::ConstantAllocation& constant : program->executable->constants()) {
    program->constants.at(constant.index) = constant.AsDeviceAddress();
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
  explicit ThunkCode(std::vector<std::unique_ptr<ThunkProgram>> programs) : programs_(std::move(programs)) {
    for (const std::unique_ptr<ThunkProgram>& program : programs_) entries_.push_back(program.get());
  }

  const std::vector<void*>& entries() const override { return entries_; }

 private:
  const std::vector<std::unique_ptr<ThunkProgram>> programs_;
  std::vector<void*> entries_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<LoadedCode>> LoadedCode::Load(absl::Span<const absl::string_view> codes) {
  XlaCompiler();  // registers the function that runs kernels
  std::vector<std::unique_ptr<ThunkProgram>> programs;
  for (const absl::string_view code : codes) {
    HPU_ASSIGN_OR_RETURN(programs.emplace_back(), LoadProgram(code));
  }
  return std::make_unique<ThunkCode>(std::move(programs));
}

}  // namespace hpu::emulator
