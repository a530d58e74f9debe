#include "plugin/server/fork_server.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "plugin/base/files/packet_socket.h"

namespace hpu::serve {
namespace {

// A fork server in a child of this process. Each of its children reads one byte from its file. The byte is the exit
// code, 's' for death by a signal, or 'h' for a hang.
class ForkServerTest : public testing::Test {
 protected:
  void SetUp() override {
    auto sockets = files::PacketSocketPair().value();
    server_ = fork();
    if (server_ == 0) {
      close(sockets.first.Release());
      RunForkServer(sockets.second, [](std::vector<files::FileDescriptor> files) {
        char order = 0;
        if (files.size() != 1 || read(files.front().get(), &order, 1) != 1) _exit(99);
        if (order == 's') raise(SIGSEGV);
        while (order == 'h') pause();
        _exit(order);
      });
      _exit(0);
    }
    client_ = std::make_unique<ForkClient>(std::move(sockets.first));
    sockets.second = files::FileDescriptor();
    ASSERT_TRUE(client_->AwaitReady().ok());
  }
  void TearDown() override {
    client_.reset();
    int status = 1;
    EXPECT_EQ(server_, waitpid(server_, &status, 0));
    EXPECT_EQ(0, status);
  }

  ForkClient::Child Fork(char order) {
    int ends[2];
    EXPECT_EQ(0, pipe(ends));
    const files::FileDescriptor read_end(ends[0]);
    const files::FileDescriptor write_end(ends[1]);
    EXPECT_EQ(1, write(write_end.get(), &order, 1));
    return client_->Fork(read_end).value();
  }

  pid_t server_ = 0;
  std::unique_ptr<ForkClient> client_;
};

TEST_F(ForkServerTest, ReportsExitStatusOfChildren) {
  const ForkClient::Child one = Fork(7);
  const ForkClient::Child other = Fork('s');
  EXPECT_EQ("exit code 7", client_->End(one.pid));
  EXPECT_EQ("signal 11 (Segmentation fault)", client_->End(other.pid));
  EXPECT_EQ("unknown exit status", client_->End(server_));
}

TEST_F(ForkServerTest, KillsChildrenAfterTheTimeout) {
  const ForkClient::Child child = Fork('h');
  pollfd ended = {child.pidfd.get(), POLLIN, 0};
  EXPECT_EQ(0, poll(&ended, 1, 100));
  EXPECT_EQ("signal 9 (Killed)", client_->End(child.pid));
  EXPECT_EQ(1, poll(&ended, 1, 0));
}

TEST(ForkServerErrorTest, ErrorReachesThePeer) {
  auto sockets = files::PacketSocketPair().value();
  ReportForkServerError(sockets.second, absl::NotFoundError("there is no backend 'card'"));
  ForkClient client(std::move(sockets.first));
  EXPECT_EQ(absl::FailedPreconditionError("there is no backend 'card'"), client.AwaitReady());
}

}  // namespace
}  // namespace hpu::serve
