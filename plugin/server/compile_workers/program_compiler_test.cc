#include "plugin/server/compile_workers/program_compiler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "plugin/base/files/packet_socket.h"
#include "plugin/testing/cts/entries/compile_fork_server.h"
#include "plugin/testing/cts/programs.h"

namespace hpu::serve {
namespace {

using Fault = ProgramCompiler::Fault;

absl::Status NotCancelled() { return absl::OkStatus(); }

class ProgramCompilerTest : public testing::Test {
 protected:
  static CompileOptions WithWorkers(size_t workers = 0) {
    CompileOptions options;
    options.fork_server = cts::CompileForkServer();
    options.max_workers = workers;
    return options;
  }

  hal::Backend* const backend_ = *hal::GetBackend("null");
  const hal::Program program_ = {"cluster_7", cts::SumAndProduct(4).hlo};
};

TEST_F(ProgramCompilerTest, WorkersCompileLikeThisProcess) {
  ProgramCompiler here(backend_, {});
  ProgramCompiler there(backend_, WithWorkers());
  const absl::StatusOr<std::string> expected = here.Compile(program_, Fault::kNone, NotCancelled);
  ASSERT_TRUE(expected.ok()) << expected.status();
  EXPECT_EQ(*expected, there.Compile(program_, Fault::kNone, NotCancelled).value());
  const absl::Status refused = there.Compile({"cluster_8", "none"}, Fault::kNone, NotCancelled).status();
  EXPECT_EQ(here.Compile({"cluster_8", "none"}, Fault::kNone, NotCancelled).status(), refused);
  EXPECT_EQ(*expected, there.Compile(program_, Fault::kNone, NotCancelled).value());
}

TEST_F(ProgramCompilerTest, CrashFailsOneProgramOnly) {
  ProgramCompiler compiler(backend_, WithWorkers(2));
  std::thread other([&] {
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(compiler.Compile(program_, Fault::kNone, NotCancelled).ok());
  });
  const absl::Status crashed = compiler.Compile(program_, Fault::kCrash, NotCancelled).status();
  EXPECT_TRUE(absl::IsInternal(crashed)) << crashed;
  EXPECT_TRUE(absl::StrContains(crashed.message(), "crashed on program 'cluster_7'")) << crashed;
  EXPECT_TRUE(absl::StrContains(crashed.message(), "signal 6")) << crashed;
  other.join();
  EXPECT_TRUE(compiler.Compile(program_, Fault::kNone, NotCancelled).ok());
}

TEST_F(ProgramCompilerTest, CompilationTimesOut) {
  CompileOptions options = WithWorkers(1);
  options.timeout = std::chrono::seconds(2);
  ProgramCompiler compiler(backend_, options);
  const absl::Status late = compiler.Compile(program_, Fault::kHang, NotCancelled).status();
  EXPECT_TRUE(absl::IsInternal(late)) << late;
  EXPECT_TRUE(absl::StrContains(late.message(), "--compile-timeout")) << late;
  // A compilation whose client is gone is also cancelled.
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  const auto check_cancelled = [until] {
    return std::chrono::steady_clock::now() < until ? absl::OkStatus() : absl::CancelledError("gone");
  };
  EXPECT_TRUE(absl::IsCancelled(compiler.Compile(program_, Fault::kHang, check_cancelled).status()));
}

TEST_F(ProgramCompilerTest, WaitForAWorkerIsCancellable) {
  ProgramCompiler compiler(backend_, WithWorkers(1));
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    const auto check_cancelled = [&] { return stop ? absl::CancelledError("stopped") : absl::OkStatus(); };
    EXPECT_TRUE(absl::IsCancelled(compiler.Compile(program_, Fault::kHang, check_cancelled).status()));
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // so that `busy` uses the only worker first
  const auto leave = [] { return absl::CancelledError("left"); };
  EXPECT_TRUE(absl::IsCancelled(compiler.Compile(program_, Fault::kNone, leave).status()));
  stop = true;
  busy.join();
}

TEST_F(ProgramCompilerTest, ReportsALostForkServer) {
  auto sockets = files::PacketSocketPair().value();
  ForkClient fork_server(std::move(sockets.first));
  sockets.second = files::FileDescriptor();
  CompileOptions options;
  options.fork_server = &fork_server;
  const absl::Status gone = ProgramCompiler(backend_, options).Compile(program_, Fault::kNone, NotCancelled).status();
  EXPECT_TRUE(absl::IsInternal(gone)) << gone;
  EXPECT_TRUE(absl::StrContains(gone.message(), "cannot start a compile worker")) << gone;
}

}  // namespace
}  // namespace hpu::serve
