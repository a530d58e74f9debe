// ProtobufSilence: suppresses protobuf's messages about malformed data.
#ifndef HPU_PLUGIN_COMPAT_PROTOBUF_SILENCE_H_
#define HPU_PLUGIN_COMPAT_PROTOBUF_SILENCE_H_

#include <memory>

namespace hpu::compat {

// While in scope, no thread prints such messages. For fuzzers and their tests.
class ProtobufSilence {
 public:
  ProtobufSilence();

 private:
  const std::shared_ptr<void> silence_;
};

}  // namespace hpu::compat

#endif  // HPU_PLUGIN_COMPAT_PROTOBUF_SILENCE_H_
