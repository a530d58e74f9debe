// Conversion of messages between gRPC and the C interface.
#ifndef HPU_PLUGIN_RPC_MESSAGE_H_
#define HPU_PLUGIN_RPC_MESSAGE_H_

#include <grpcpp/support/byte_buffer.h>

#include <memory>
#include <string>
#include <vector>

namespace hpu::rpc {

inline grpc::ByteBuffer MakeMessage(std::unique_ptr<std::string> bytes) {
  std::string* const owned = bytes.release();
  const auto destroy = [](void* string) { delete static_cast<std::string*>(string); };
  const grpc::Slice slice(owned->data(), owned->size(), destroy, owned);
  return grpc::ByteBuffer(&slice, 1);
}

// The bytes of a received message as one block. Valid while this object and the message exist.
class MessageBytes {
 public:
  explicit MessageBytes(const grpc::ByteBuffer& message) {
    if (!message.Dump(&slices_).ok()) slices_.clear();
    if (slices_.size() < 2) return;
    joined_.reserve(message.Length());
    for (const grpc::Slice& slice : slices_) joined_.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }

  const void* data() const {
    if (slices_.size() == 1) return slices_.front().begin();
    return joined_.data();
  }
  size_t size() const { return slices_.size() == 1 ? slices_.front().size() : joined_.size(); }

 private:
  std::vector<grpc::Slice> slices_;
  std::string joined_;  // only used for several slices
};

}  // namespace hpu::rpc

#endif  // HPU_PLUGIN_RPC_MESSAGE_H_
