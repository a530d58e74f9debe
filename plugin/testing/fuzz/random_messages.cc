#include "plugin/testing/fuzz/random_messages.h"

#include "xla/service/hlo.pb.h"

namespace hpu::fuzz {
namespace {

constexpr uint64_t kBaseAddress = uint64_t{1} << 20;  // base address of a session's memory
constexpr uint64_t kMemoryBytes = uint64_t{1} << 20;
constexpr uint64_t kMaxCopied = uint64_t{1} << 20;

// A program whose interface is one argument and one result.
std::string Program(int64_t elements) {
  xla::HloModuleProto module;
  module.set_name("fuzz");
  xla::ProgramShapeProto& shape = *module.mutable_host_program_shape();
  xla::ShapeProto array;
  array.set_element_type(xla::F32);
  array.add_dimensions(elements);
  array.add_is_dynamic_dimension(false);
  *shape.add_parameters() = array;
  shape.mutable_result()->set_element_type(xla::TUPLE);
  *shape.mutable_result()->add_tuple_shapes() = array;
  return module.SerializeAsString();
}

}  // namespace

uint64_t RandomMessages::Address() {
  switch (random_.Below(8)) {
    case 0:
      return random_.Number();
    case 1:
      return 0;
    case 2:
      return ~uint64_t{0} - random_.Below(300);
    case 3:
      return kBaseAddress + kMemoryBytes - random_.Below(300);
    default:
      return kBaseAddress + random_.Below(kMemoryBytes);
  }
}

uint64_t RandomMessages::Size() {
  switch (random_.Below(8)) {
    case 0:
      return random_.Number();
    case 1:
      return kMaxCopied + random_.Below(3) - 1;
    default:
      return random_.Below(300);
  }
}

uint64_t RandomMessages::Handle() { return OneIn(10) ? random_.Number() : random_.Below(8); }

proto::HoldRequest RandomMessages::Acquire() {
  proto::HoldRequest request;
  proto::Acquire& acquire = *request.mutable_acquire();
  acquire.mutable_versions()->set_first(1);
  acquire.mutable_versions()->set_last(1);
  acquire.mutable_holder()->set_pid(static_cast<uint32_t>(random_.Number()));
  acquire.mutable_holder()->set_command("fuzz");
  acquire.set_memory_bytes(kMemoryBytes);
  return request;
}

proto::HoldRequest RandomMessages::SignOfLife() {
  proto::HoldRequest request;
  for (uint64_t count = random_.Below(4); count > 0; --count) {
    proto::Forget& forget = OneIn(2) ? *request.add_forget_marks() : *request.add_forget_recipes();
    forget.set_handle(Handle());
    forget.set_uses(random_.Below(4));
  }
  return request;
}

proto::OpenStream RandomMessages::OpenStream(const std::string& session) {
  proto::OpenStream open;
  open.set_session(session);
  open.set_kind(static_cast<proto::StreamKind>(1 + random_.Below(3)));
  return open;
}

proto::RunRequest RandomMessages::Commands() {
  proto::RunRequest request;
  for (uint64_t count = 1 + random_.Below(3); count > 0; --count) *request.add_commands() = Command();
  return request;
}

proto::Command RandomMessages::Command() {
  proto::Command command;
  switch (random_.Below(400)) {
    case 0:  // blocks until the session's end if the mark is never recorded
      command.mutable_wait()->set_mark(Handle());
      break;
    case 1:
    case 2:
    case 3:
      command.mutable_clear();
      break;
    case 4:
      command.mutable_copy_to_device()->set_data(Bytes(kMaxCopied + random_.Below(2)));
      break;
    default:
      switch (random_.Below(7)) {
        case 0:
          command.mutable_copy_to_device()->set_destination(Address());
          command.mutable_copy_to_device()->set_data(Bytes(random_.Below(200)));
          break;
        case 1:
          command.mutable_copy_to_host()->set_source(Address());
          command.mutable_copy_to_host()->set_bytes(static_cast<uint32_t>(Size()));
          break;
        case 2:
          command.mutable_copy_on_device()->set_source(Address());
          command.mutable_copy_on_device()->set_destination(Address());
          command.mutable_copy_on_device()->set_bytes(Size());
          break;
        case 3:
          command.mutable_fill()->set_destination(Address());
          command.mutable_fill()->set_value(static_cast<uint32_t>(random_.Number()));
          command.mutable_fill()->set_bytes(Size());
          break;
        case 4:
          command.mutable_launch()->set_recipe(Handle());
          for (uint64_t count = random_.Below(3); count > 0; --count)
            command.mutable_launch()->add_arguments(Address());
          for (uint64_t count = random_.Below(3); count > 0; --count) command.mutable_launch()->add_results(Address());
          command.mutable_launch()->set_workspace(Address());
          break;
        case 5:
          command.mutable_record()->set_mark(random_.Number());
          break;
        default:
          command.mutable_report();
      }
  }
  return command;
}

std::vector<proto::MakeRecipeRequest> RandomMessages::Recipe(const std::string& session,
                                                             const std::vector<std::string>& recipes) {
  const bool load = !recipes.empty() && OneIn(2);
  std::string bytes = load ? recipes[random_.Below(recipes.size())] : Program(static_cast<int64_t>(random_.Below(100)));
  if (OneIn(3)) bytes = random_.Mutate(std::move(bytes), Program(1));
  std::vector<proto::MakeRecipeRequest> requests(1);
  proto::MakeRecipeHeader& header = *requests.front().mutable_header();
  header.set_session(session);
  header.set_recipe(Handle());
  header.set_name(OneIn(20) ? Bytes(5000) : "fuzz");
  header.set_source(load ? proto::MakeRecipeHeader::SOURCE_RECIPE : proto::MakeRecipeHeader::SOURCE_PROGRAM);
  header.set_bytes(OneIn(10) ? Size() : bytes.size());
  const uint64_t chunk_bytes = 1 + random_.Below(bytes.size() + 1);
  for (uint64_t at = 0; at < bytes.size(); at += chunk_bytes) {
    requests.emplace_back().set_chunk(bytes.substr(at, chunk_bytes));
  }
  return requests;
}

}  // namespace hpu::fuzz
