#include "plugin/testing/cts/ranks.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace hpu::cts {
namespace {

// Set in the process of a rank: its number, and the folder of texts.
constexpr char kRankVariable[] = "CTS_RANK";
constexpr char kFolderVariable[] = "CTS_RANK_FOLDER";

// Rank of this process; -1 in the test's own process.
int RankOfProcess() {
  int rank = -1;
  const char* text = std::getenv(kRankVariable);
  return text != nullptr && absl::SimpleAtoi(text, &rank) ? rank : -1;
}

}  // namespace

void RankTest::SetUpRanks(uint64_t elements) {
  ReleaseDevice();
  const int own = RankOfProcess();
  if (own >= 0) {
    folder_ = std::getenv(kFolderVariable);
  } else {
    std::string path = (std::filesystem::temp_directory_path() / "hpu_cts_ranks.XXXXXX").string();
    ASSERT_NE(nullptr, mkdtemp(path.data()));
    folder_ = path;
    owns_folder_ = true;
  }
  for (int rank = 0; rank < kRanks; ++rank) {
    if (own < 0 ? rank == 0 || ranks_are_threads() : rank == own) {
      ranks_.emplace_back().number = rank;
    } else if (own < 0) {
      StartProcess(rank);
    }
  }
  for (Rank& rank : ranks_) {
    rank.device = Value(Acquire());
    ASSERT_NE(nullptr, rank.device);
    rank.memory = Value(rank.device->AllocateMemory(elements * sizeof(float)));
    rank.host = Value(rank.device->AllocateHost(elements * sizeof(float)));
    rank.stream = Value(rank.device->CreateStream(hal::StreamKind::kCompute));
  }
}

void RankTest::StartProcess(int rank) {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  const std::string filter = absl::StrCat("--gtest_filter=", info->test_suite_name(), ".", info->name());
  const std::string number = absl::StrCat(rank);
  const ScopedVariable rank_variable(kRankVariable, number);
  const ScopedVariable folder_variable(kFolderVariable, folder_);
  const pid_t process = fork();
  if (process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    execl("/proc/self/exe", "hpu_cts", filter.c_str(), nullptr);
    _exit(127);
  }
  processes_.push_back(process);
}

void RankTest::TearDown() {
  ranks_.clear();
  for (const pid_t process : processes_) {
    int status = 0;
    waitpid(process, &status, 0);
    if (dies_) {
      EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
    } else {
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "another rank failed, as written above: " << status;
    }
  }
  std::error_code ignored;
  if (owns_folder_) std::filesystem::remove_all(folder_, ignored);
}

void RankTest::Run(const std::function<void(Rank&)>& body) {
  std::vector<std::thread> threads;
  for (Rank& rank : ranks_) threads.emplace_back([&] { body(rank); });
  for (std::thread& thread : threads) thread.join();
}

void RankTest::Publish(const std::string& name, const std::string& text) {
  const std::string path = absl::StrCat(folder_, "/", name);
  std::ofstream(path + ".draft") << text;
  std::filesystem::rename(path + ".draft", path);
}

std::string RankTest::AwaitText(const std::string& name) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (std::chrono::steady_clock::now() < end) {
    std::ifstream file(absl::StrCat(folder_, "/", name));
    if (file) return std::string(std::istreambuf_iterator<char>(file), {});
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ADD_FAILURE() << "no rank has published " << name;
  return "";
}

}  // namespace hpu::cts
