#include "plugin/base/files/shared_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdlib>
#include <thread>
#include <utility>

#include "plugin/base/files/descriptor_socket.h"

namespace hpu::files {
namespace {

constexpr uint64_t kBytes = uint64_t{1} << 16;

FileDescriptor MemoryFile(uint64_t bytes, int seals) {
  FileDescriptor file(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(0, ftruncate(file.get(), static_cast<off_t>(bytes)));
  EXPECT_EQ(0, fcntl(file.get(), F_ADD_SEALS, seals));
  return file;
}

TEST(SharedMemoryTest, BothMappingsShareMemory) {
  const auto made = SharedMemory::Create(kBytes);
  ASSERT_TRUE(made.ok()) << made.status();
  const auto opened = SharedMemory::Open(FileDescriptor(dup((*made)->file().get())), kBytes);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(0, (*made)->data()[kBytes - 1]);
  (*opened)->data()[kBytes - 1] = 7;
  EXPECT_EQ(7, (*made)->data()[kBytes - 1]);
}

TEST(SharedMemoryTest, SizeIsSealed) {
  const auto made = SharedMemory::Create(kBytes);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_NE(0, ftruncate((*made)->file().get(), 0));
  EXPECT_NE(0, ftruncate((*made)->file().get(), 2 * kBytes));
}

TEST(SharedMemoryTest, FilesThatCouldShrinkOrHaveAnotherSizeAreRefused) {
  const auto code = [](FileDescriptor file) { return SharedMemory::Open(std::move(file), kBytes).status().code(); };
  EXPECT_EQ(absl::StatusCode::kFailedPrecondition, code(MemoryFile(kBytes, 0)));
  EXPECT_EQ(absl::StatusCode::kFailedPrecondition, code(MemoryFile(kBytes, F_SEAL_GROW)));
  EXPECT_EQ(absl::StatusCode::kFailedPrecondition, code(MemoryFile(kBytes - 1, F_SEAL_SHRINK | F_SEAL_GROW)));
  EXPECT_EQ(absl::StatusCode::kFailedPrecondition, code(FileDescriptor(open("/dev/zero", O_RDWR | O_CLOEXEC))));
  EXPECT_EQ(absl::StatusCode::kFailedPrecondition, code(FileDescriptor()));
  EXPECT_EQ(absl::StatusCode::kOk, code(MemoryFile(kBytes, F_SEAL_SHRINK | F_SEAL_GROW)));
}

TEST(SharedMemoryTest, MemoryOfHugePagesIsRefused) {
  constexpr uint64_t kHugePage = uint64_t{2} << 20;
  FileDescriptor file(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB));
  if (!file.valid() || ftruncate(file.get(), kHugePage) != 0) GTEST_SKIP() << "the system has no huge pages";
  EXPECT_EQ(0, fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW));
  EXPECT_EQ(absl::StatusCode::kFailedPrecondition, SharedMemory::Open(std::move(file), kHugePage).status().code());
}

class DescriptorSocketTest : public testing::Test {
 protected:
  DescriptorSocketTest() {
    char name[] = "/tmp/hpu-test-XXXXXX";
    directory_ = mkdtemp(name);
    path_ = directory_ + "/socket";
  }
  ~DescriptorSocketTest() override {
    unlink(path_.c_str());
    rmdir(directory_.c_str());
  }

  std::string directory_;
  std::string path_;
};

TEST_F(DescriptorSocketTest, OnlyASocketIsReplaced) {
  EXPECT_TRUE(ListenAt(path_).ok());
  EXPECT_TRUE(ListenAt(path_).ok());  // the socket of a killed server is replaced
  unlink(path_.c_str());
  const FileDescriptor file(open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  EXPECT_EQ(absl::StatusCode::kUnavailable, ListenAt(path_).status().code());
  EXPECT_EQ(0, access(path_.c_str(), F_OK));
}

TEST_F(DescriptorSocketTest, SendsAFileDescriptor) {
  const auto listening = ListenAt(path_);
  ASSERT_TRUE(listening.ok()) << listening.status();
  const auto memory = SharedMemory::Create(kBytes);
  ASSERT_TRUE(memory.ok()) << memory.status();
  std::thread server([&] {
    const FileDescriptor socket = Accept(*listening);
    EXPECT_EQ("token", Receive(socket, 5));
    EXPECT_TRUE(SendFile(socket, (*memory)->file()));
  });
  const auto socket = ConnectTo(path_);
  ASSERT_TRUE(socket.ok()) << socket.status();
  EXPECT_TRUE(Send(*socket, "token"));
  absl::StatusOr<FileDescriptor> file = ReceiveFile(*socket);
  server.join();
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE(SharedMemory::Open(*std::move(file), kBytes).ok());
}

TEST_F(DescriptorSocketTest, SilentPeerTimesOut) {
  const auto listening = ListenAt(path_);
  ASSERT_TRUE(listening.ok()) << listening.status();
  const auto socket = ConnectTo(path_);
  ASSERT_TRUE(socket.ok()) << socket.status();
  EXPECT_EQ(absl::StatusCode::kUnavailable, ReceiveFile(*socket).status().code());
  EXPECT_EQ("", Receive(Accept(*listening), 16));
}

TEST_F(DescriptorSocketTest, ConnectingToAMissingPeerFails) {
  EXPECT_EQ(absl::StatusCode::kUnavailable, ConnectTo(path_).status().code());
  EXPECT_EQ(absl::StatusCode::kUnavailable, ConnectTo(path_ + std::string(200, 'x')).status().code());
}

}  // namespace
}  // namespace hpu::files
