#include "plugin/backends/pjrt/helper_programs.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/backends/pjrt/compile_options.h"
#include "plugin/base/status_macros.h"

namespace hpu::pjrt {
namespace {

constexpr size_t kMaxPrograms = 256;

std::string Bytes(uint64_t bytes) { return absl::StrCat("tensor<", bytes, "xui8>"); }

std::string FillProgram(uint64_t bytes) {
  return absl::StrCat("module @fill { func.func @main(%value: tensor<1xui8>) -> ", Bytes(bytes),
                      " { %0 = stablehlo.reshape %value : (tensor<1xui8>) -> tensor<ui8>",
                      " %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<ui8>) -> ", Bytes(bytes),
                      " return %1 : ", Bytes(bytes), " } }");
}

// The first parameter holds the offsets of the pieces in the buffers, which are the other parameters.
std::string ConcatenateProgram(absl::Span<const AddressMap::Piece> pieces) {
  const std::string offsets = absl::StrCat("tensor<", pieces.size(), "xi64>");
  std::string parameters = absl::StrCat("%offsets: ", offsets);
  std::string body;
  std::vector<std::string> names;
  std::vector<std::string> types;
  uint64_t total = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const AddressMap::Piece& piece = pieces[i];
    const std::string type = Bytes(piece.bytes);
    names.push_back(absl::StrCat("%p", i));
    types.push_back(type);
    total += piece.bytes;
    if (piece.buffer == nullptr) {
      absl::StrAppend(&body, names.back(), " = stablehlo.constant dense<0> : ", type, "\n");
      continue;
    }
    const std::string whole = Bytes(piece.buffer->bytes);
    absl::StrAppend(&parameters, ", %b", i, ": ", whole);
    absl::StrAppend(&body, "%s", i, " = stablehlo.slice %offsets [", i, ":", i + 1, "] : (", offsets,
                    ") -> tensor<1xi64>\n");
    absl::StrAppend(&body, "%o", i, " = stablehlo.reshape %s", i, " : (tensor<1xi64>) -> tensor<i64>\n");
    absl::StrAppend(&body, names.back(), " = stablehlo.dynamic_slice %b", i, ", %o", i, ", sizes = [", piece.bytes,
                    "] : (", whole, ", tensor<i64>) -> ", type, "\n");
  }
  const std::string result = Bytes(total);
  return absl::StrCat("module @concatenate { func.func @main(", parameters, ") -> ", result, " {\n", body,
                      "%result = stablehlo.concatenate ", absl::StrJoin(names, ", "), ", dim = 0 : (",
                      absl::StrJoin(types, ", "), ") -> ", result, "\nreturn %result : ", result, " } }");
}

}  // namespace

absl::StatusOr<BufferHandle> HelperPrograms::Fill(uint64_t bytes, uint8_t value, Event* end) {
  HPU_ASSIGN_OR_RETURN(const BufferHandle argument, client_.ToDevice(&value, 1, /*source_free=*/nullptr));
  return Run(FillProgram(bytes), {argument.get()}, end);
}

absl::StatusOr<BufferHandle> HelperPrograms::Concatenate(absl::Span<const AddressMap::Piece> pieces) {
  std::vector<int64_t> offsets;
  for (const AddressMap::Piece& piece : pieces) offsets.push_back(static_cast<int64_t>(piece.offset));
  HPU_ASSIGN_OR_RETURN(const BufferHandle first, client_.ToDevice(offsets.data(), offsets.size() * sizeof(int64_t),
                                                                  /*source_free=*/nullptr));
  std::vector<PJRT_Buffer*> arguments = {first.get()};
  for (const AddressMap::Piece& piece : pieces) {
    if (piece.buffer != nullptr) arguments.push_back(piece.buffer->handle.get());
  }
  Event end;
  return Run(ConcatenateProgram(pieces), arguments, &end);
}

absl::StatusOr<std::shared_ptr<const Executable>> HelperPrograms::Find(const std::string& stablehlo) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (const auto found = found_.find(stablehlo); found != found_.end()) {
      recent_.splice(recent_.begin(), recent_, found->second);
      return found->second->second;
    }
  }
  HPU_ASSIGN_OR_RETURN(const std::string options, CompileOptions(client_.plugin().path(), /*hlo=*/""));
  HPU_ASSIGN_OR_RETURN(std::shared_ptr<const Executable> compiled, client_.CompileText(stablehlo, options));
  std::lock_guard<std::mutex> lock(mutex_);
  if (found_.count(stablehlo) > 0) return compiled;  // another thread has compiled the program meanwhile
  recent_.emplace_front(stablehlo, compiled);
  found_.emplace(stablehlo, recent_.begin());
  if (recent_.size() > kMaxPrograms) {
    found_.erase(recent_.back().first);
    recent_.pop_back();
  }
  return compiled;
}

absl::StatusOr<BufferHandle> HelperPrograms::Run(const std::string& stablehlo, absl::Span<PJRT_Buffer* const> arguments,
                                                 Event* end) {
  HPU_ASSIGN_OR_RETURN(const std::shared_ptr<const Executable> program, Find(stablehlo));
  PJRT_Buffer* result = nullptr;
  HPU_ASSIGN_OR_RETURN(*end, Execute(*program, client_.plugin(), arguments, {}, absl::MakeSpan(&result, 1)));
  return BufferHandle(result, Deleter<PJRT_Buffer>{&client_.plugin()});
}

absl::StatusOr<Event> Execute(const Executable& executable, const Plugin& plugin,
                              absl::Span<PJRT_Buffer* const> arguments, absl::Span<const int64_t> kept,
                              absl::Span<PJRT_Buffer*> results, const CollectiveLaunch& collective) {
  PJRT_Buffer* const* argument_list = arguments.data();
  PJRT_Buffer** result_list = results.data();
  PJRT_Event* end = nullptr;
  Arguments<PJRT_ExecuteOptions> options;
  options->non_donatable_input_indices = kept.data();
  options->num_non_donatable_input_indices = kept.size();
  options->launch_id = collective.id;
  Arguments<PJRT_LoadedExecutable_Execute_Args> execute;
  execute->executable = executable.get();
  execute->options = &options.args;
  execute->argument_lists = &argument_list;
  execute->num_devices = 1;
  execute->num_args = arguments.size();
  execute->output_lists = &result_list;
  execute->device_complete_events = &end;
  execute->execute_device = collective.device == nullptr ? executable.device() : collective.device;
  HPU_RETURN_IF_ERROR(HPU_PJRT_CALL(plugin, PJRT_LoadedExecutable_Execute, execute));
  return Event(plugin, end);
}

}  // namespace hpu::pjrt
