#include "plugin/recipes/transfer_process.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

namespace hpu::recipes {
namespace transfer_process_test {

constexpr absl::Duration kHang = absl::Seconds(60);

// Sends a request to a shell script whose standard input is the socket.
absl::StatusOr<TransferReply> CallScript(const std::string& script, absl::Duration timeout = kHang) {
  const auto process = TransferProcess::Start({"sh", "-c", script});
  if (!process.ok()) return process.status();
  return (*process)->Call("get", "key", "", absl::Now() + timeout);
}

TEST(TransferProcessTest, AnswersOneRequestAfterTheOther) {
  const auto process = *TransferProcess::Start({"sh", "-c",
                                                "while read verb key size; do text=\"$verb $key $(head -c $size)\"; "
                                                "printf 'stored %d\\n%s' ${#text} \"$text\" >&0; done"});
  for (const std::string operand : {"/a path/of an entry", "/b"}) {
    const auto reply = process->Call("put", "key", operand, absl::Now() + kHang);
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_EQ(reply->outcome, "stored");
    EXPECT_EQ(reply->bytes, absl::StrCat("put key ", operand));
  }
}

TEST(TransferProcessTest, AcceptsLargeReplies) {
  std::string path = absl::StrCat(::testing::TempDir(), "/replyXXXXXX");
  close(mkstemp(path.data()));
  const std::string bytes(size_t{5} << 20, 'x');
  std::ofstream(path) << bytes;
  const auto reply = CallScript(absl::StrCat("read line; echo found ", bytes.size(), " >&0; cat ", path, " >&0"));
  std::filesystem::remove(path);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_TRUE(reply->bytes == bytes);
}

TEST(TransferProcessTest, ProcessThatEndsIsUnavailable) {
  for (const char* script : {"exit 1", "read line", "read line; printf 'found 9\\npart' >&0"}) {
    const absl::Status status = CallScript(script).status();
    EXPECT_TRUE(absl::IsUnavailable(status)) << script << ": " << status;
  }
}

TEST(TransferProcessTest, SilentProcessExceedsTheDeadline) {
  // The last script never pauses and never sends a whole reply.
  for (const char* script : {"exec sleep 5", "read line; printf 'found 9\\npart' >&0; exec sleep 5",
                             "read line; echo found 2000000000 >&0; cat /dev/zero >&0"}) {
    const absl::Status status = CallScript(script, absl::Milliseconds(300)).status();
    EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << script << ": " << status;
  }
}

TEST(TransferProcessTest, RepliesThatBreakTheProtocolAreRefused) {
  for (const char* reply :
       {"found\\n", "found 1 2\\n", "found -1\\n", "found x\\n", "found 3000000000\\n", "found 1\\nmore", "\\n",
        "a line that does not end and is longer than any header that a transfer process may send"}) {
    const absl::Status status = CallScript(absl::StrCat("read line; printf '", reply, "' >&0; exec sleep 5")).status();
    EXPECT_TRUE(absl::IsInternal(status)) << reply << ": " << status;
  }
}

TEST(TransferProcessTest, CommandThatDoesNotExistIsUnavailable) {
  const absl::Status status = TransferProcess::Start({"/no/such/program"}).status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "/no/such/program")) << status;
}

}  // namespace transfer_process_test
}  // namespace hpu::recipes
