// Tests of a device in a forked child: every call fails immediately, and destructors do not hang.
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>

#include "plugin/testing/cts/fixture.h"

namespace hpu::cts {
namespace fork_test {

class ForkTest : public CtsTest {
 protected:
  // Runs `body` in a forked child; fails unless it returns true within half a minute.
  static void InChild(const std::function<bool()>& body) {
    const pid_t pid = fork();
    if (pid == 0) {
      alarm(30);  // a hang ends the child by SIGALRM
      _exit(body() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(pid, waitpid(pid, &status, 0));
    EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
    EXPECT_EQ(0, WEXITSTATUS(status));
  }
  static bool Lost(const absl::Status& status) {
    const bool lost = absl::IsAborted(status) && std::strstr(status.ToString().c_str(), "spawn") != nullptr;
    if (!lost) dprintf(STDERR_FILENO, "in the forked child: %s\n", status.ToString().c_str());
    return lost;
  }
};

TEST_P(ForkTest, EveryCallInTheChildFails) {
  const auto memory = Memory(64);
  const auto host = Host(64);
  const auto stream = Stream();
  const auto event = Event();
  ASSERT_OK(QueueSlowWork(*stream));
  ASSERT_OK(stream->Record(*event));
  InChild([&] {
    hal::Device& lost = device();
    return Lost(lost.AllocateMemory(8).status()) && Lost(lost.AllocateHost(8).status()) &&
           Lost(lost.MapHost(host->data(), 8).status()) &&
           Lost(lost.CreateStream(hal::StreamKind::kCompute).status()) && Lost(lost.CreateEvent().status()) &&
           Lost(lost.Synchronize()) && Lost(lost.Compile({"name", ""}).status()) &&
           Lost(lost.LoadRecipe("name", "").status()) && Lost(stream->Fill(memory->address(), 1, 8)) &&
           Lost(stream->CopyToDevice(host->data(), memory->address(), 8)) &&
           Lost(stream->CopyToHost(memory->address(), host->data(), 8)) &&
           Lost(stream->CopyOnDevice(memory->address(), memory->address(), 8)) && Lost(stream->Launch(nullptr, {})) &&
           Lost(stream->Record(*event)) && Lost(stream->Wait(*event)) &&
           Lost(stream->AddCallback([](absl::Status) {})) && Lost(stream->Synchronize()) &&
           Lost(event->Query().status()) && Lost(event->Synchronize()) && lost.memory_info().free_bytes == 0;
  });
  ASSERT_OK(stream->Synchronize());
}

TEST_P(ForkTest, DestructorsOfTheChildDoNotHang) {
  auto memory = Memory(64 << 20);
  auto host = Host(1 << 20);
  auto stream = Stream();
  auto event = Event();
  Write(memory->address(), Pattern(4096));
  ASSERT_OK(QueueSlowWork(*stream));
  ASSERT_OK(stream->Record(*event));
  InChild([&] {
    memory.reset();
    host.reset();
    event.reset();
    stream.reset();
    ReleaseDevice();
    return true;
  });
  // The parent's device is unaffected.
  ASSERT_OK(stream->Synchronize());
  ExpectContents(memory->address(), Pattern(4096));
}

HPU_CTS_SUITE(ForkTest);

}  // namespace fork_test
}  // namespace hpu::cts
