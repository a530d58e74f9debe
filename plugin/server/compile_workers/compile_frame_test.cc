#include "plugin/server/compile_workers/compile_frame.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstring>
#include <thread>

namespace hpu::serve {
namespace {

class CompileFrameTest : public testing::Test {
 protected:
  CompileFrameTest() {
    int sockets[2];
    EXPECT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets));
    ours_ = files::FileDescriptor(sockets[0]);
    theirs_ = files::FileDescriptor(sockets[1]);
  }

  static absl::Status Always() { return absl::OkStatus(); }

  files::FileDescriptor ours_;
  files::FileDescriptor theirs_;
};

TEST_F(CompileFrameTest, FramesRoundTrip) {
  CompileFrame sent;
  sent.kind = CompileFrame::Kind::kError;
  sent.code = absl::StatusCode::kUnimplemented;
  sent.name = "cluster";
  sent.body.assign(40 << 20, 'x');  // larger than a socket buffer and one read step
  sent.body.back() = 'y';
  std::thread sender([&] { EXPECT_EQ(absl::OkStatus(), SendFrame(ours_, sent, Always)); });
  const absl::StatusOr<CompileFrame> received = ReceiveFrame(theirs_, Always);
  sender.join();
  ASSERT_TRUE(received.ok()) << received.status();
  EXPECT_EQ(sent.kind, received->kind);
  EXPECT_EQ(sent.code, received->code);
  EXPECT_EQ(sent.name, received->name);
  EXPECT_TRUE(sent.body == received->body);
}

TEST_F(CompileFrameTest, OversizedFramesAreNotSent) {
  CompileFrame frame;
  frame.name.assign(CompileFrame::kMaxNameBytes + 1, 'n');
  EXPECT_TRUE(absl::IsInvalidArgument(SendFrame(ours_, frame, Always)));
  char byte;
  EXPECT_EQ(-1, recv(theirs_.get(), &byte, 1, MSG_DONTWAIT));
}

TEST_F(CompileFrameTest, InvalidHeadersAreRefusedBeforeTheBody) {
  CompileFrame frame;
  ASSERT_EQ(absl::OkStatus(), SendFrame(ours_, frame, Always));
  char header[24];
  ASSERT_EQ(static_cast<ssize_t>(sizeof(header)), recv(theirs_.get(), header, sizeof(header), 0));
  const uint64_t beyond = CompileFrame::kMaxBodyBytes + 1;
  for (const size_t damaged : {0, 4, 12, 16}) {  // magic, kind, name size, body size
    char other[sizeof(header)];
    std::memcpy(other, header, sizeof(header));
    std::memcpy(other + damaged, &beyond, damaged == 16 ? sizeof(beyond) : sizeof(uint32_t));
    ASSERT_EQ(static_cast<ssize_t>(sizeof(other)), send(ours_.get(), other, sizeof(other), 0));
    EXPECT_TRUE(absl::IsDataLoss(ReceiveFrame(theirs_, Always).status())) << damaged;
  }
}

TEST_F(CompileFrameTest, PeerExitAndCancellationEndTheWait) {
  int asked = 0;
  const auto twice = [&] { return ++asked < 2 ? absl::OkStatus() : absl::CancelledError("enough"); };
  EXPECT_TRUE(absl::IsCancelled(ReceiveFrame(theirs_, twice).status()));
  EXPECT_EQ(2, asked);
  CompileFrame large;
  large.body.assign(8 << 20, 'x');
  EXPECT_TRUE(absl::IsCancelled(SendFrame(ours_, large, twice)));
  ours_ = files::FileDescriptor();
  for (;;) {  // drains the rest of the large frame
    char rest[4096];
    if (recv(theirs_.get(), rest, sizeof(rest), 0) <= 0) break;
  }
  EXPECT_TRUE(absl::IsUnavailable(ReceiveFrame(theirs_, Always).status()));
  EXPECT_TRUE(absl::IsUnavailable(SendFrame(theirs_, large, Always)));
}

}  // namespace
}  // namespace hpu::serve
