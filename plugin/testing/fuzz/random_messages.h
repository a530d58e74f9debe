// RandomMessages: random messages of a device server's client.
#ifndef HPU_PLUGIN_TESTING_FUZZ_RANDOM_MESSAGES_H_
#define HPU_PLUGIN_TESTING_FUZZ_RANDOM_MESSAGES_H_

#include <string>
#include <vector>

#include "hpu/device/v1/device.pb.h"
#include "plugin/testing/fuzz/mutator.h"

namespace hpu::fuzz {

namespace proto = ::hpu::device::v1;

// Mostly valid messages; some fields are at the protocol's limits or beyond.
class RandomMessages {
 public:
  explicit RandomMessages(uint64_t seed) : random_(seed) {}

  Mutator& random() { return random_; }
  bool OneIn(uint64_t count) { return random_.Below(count) == 0; }

  proto::HoldRequest Acquire();
  proto::HoldRequest SignOfLife();
  proto::OpenStream OpenStream(const std::string& session);
  proto::RunRequest Commands();
  // A header and its chunks. `recipes` are recipes that the server sent earlier.
  std::vector<proto::MakeRecipeRequest> Recipe(const std::string& session, const std::vector<std::string>& recipes);

 private:
  proto::Command Command();
  uint64_t Address();
  uint64_t Size();
  uint64_t Handle();
  std::string Bytes(uint64_t size) { return std::string(size, static_cast<char>(random_.Below(256))); }

  Mutator random_;
};

}  // namespace hpu::fuzz

#endif  // HPU_PLUGIN_TESTING_FUZZ_RANDOM_MESSAGES_H_
