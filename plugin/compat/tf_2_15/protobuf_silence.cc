#include "plugin/compat/protobuf_silence.h"

#include "google/protobuf/stubs/logging.h"

namespace hpu::compat {

ProtobufSilence::ProtobufSilence() : silence_(std::make_shared<google::protobuf::LogSilencer>()) {}

}  // namespace hpu::compat
