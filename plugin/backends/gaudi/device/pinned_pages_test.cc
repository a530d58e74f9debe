#include "plugin/backends/gaudi/device/pinned_pages.h"

#include <sys/mman.h>

#include "plugin/testing/gaudi_double.h"

namespace hpu::gaudi {
namespace {

constexpr uint64_t kPage = 4096;

// Addresses are relative to a mapping. The double aborts if mappings overlap, or if an address is not mapped.
class PinnedPagesTest : public DoubleTest {
 protected:
  static constexpr uint64_t kBytes = 5 * PinnedPages::kPoolPartBytes;

  PinnedPagesTest() {
    memory_ = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    begin_ = reinterpret_cast<uint64_t>(memory_);
    module_ = *AcquiredModule::Acquire(runtime(), {});
    pages_ = std::make_unique<PinnedPages>(runtime().functions(), module_->device());
  }
  ~PinnedPagesTest() override { munmap(memory_, kBytes); }

  // Offset and size of each piece of a range.
  using Pieces = std::vector<std::pair<uint64_t, uint64_t>>;
  Pieces Cut(uint64_t offset, uint64_t bytes) {
    PinnedPages::Pieces pieces;
    const absl::Status status = pages_->Cut(begin_ + offset, bytes, &pieces);
    EXPECT_TRUE(status.ok()) << status;
    Pieces result;
    for (const PinnedPages::Piece& piece : pieces) result.emplace_back(piece.begin - begin_, piece.bytes);
    return result;
  }
  absl::Status TryCut(uint64_t offset, uint64_t bytes) {
    PinnedPages::Pieces pieces;
    return pages_->Cut(begin_ + offset, bytes, &pieces);
  }

  void* memory_;
  uint64_t begin_;
  std::unique_ptr<AcquiredModule> module_;
  std::unique_ptr<PinnedPages> pages_;
};

TEST_P(PinnedPagesTest, RangesAreWidenedToPagesAndCounted) {
  EXPECT_TRUE(pages_->Pin(begin_ + 100, 600).ok());
  EXPECT_TRUE(pages_->Pin(begin_ + 500, 2 * kPage).ok());
  EXPECT_TRUE(pages_->Pin(begin_ + 100, 600).ok());
  EXPECT_EQ(Cut(500, 2 * kPage), (Pieces{{500, kPage - 500}, {kPage, kPage + 500}}));
  pages_->Unpin(begin_ + 100, 600);
  pages_->Unpin(begin_ + 100, 600);
  EXPECT_EQ(Cut(500, 10), (Pieces{{500, 10}}));
  pages_->Unpin(begin_ + 500, 2 * kPage);
  EXPECT_FALSE(TryCut(500, 10).ok());
}

TEST_P(PinnedPagesTest, GapsBetweenMappingsAreMapped) {
  EXPECT_TRUE(pages_->Pin(begin_ + kPage, kPage).ok());
  EXPECT_TRUE(pages_->Pin(begin_ + 3 * kPage, kPage).ok());
  EXPECT_TRUE(pages_->Pin(begin_, 5 * kPage).ok());
  EXPECT_EQ(Cut(0, 5 * kPage).size(), 5u);
  pages_->Unpin(begin_ + kPage, kPage);
  pages_->Unpin(begin_ + 3 * kPage, kPage);
  EXPECT_EQ(Cut(0, 5 * kPage).size(), 5u);
  pages_->Unpin(begin_, 5 * kPage);
  // Nothing is mapped any more: the double aborts on a second mapping.
  EXPECT_TRUE(pages_->Pin(begin_, 5 * kPage).ok());
  EXPECT_EQ(Cut(0, 5 * kPage).size(), 1u);
  pages_->Unpin(begin_, 5 * kPage);
}

TEST_P(PinnedPagesTest, PoolsArePinnedAsTheyAreUsed) {
  constexpr uint64_t kPart = PinnedPages::kPoolPartBytes;
  pages_->AddPool(begin_, kBytes - 100);
  EXPECT_EQ(Cut(kPart + 5, 10), (Pieces{{kPart + 5, 10}}));
  EXPECT_EQ(Cut(kPart - 5, 10), (Pieces{{kPart - 5, 5}, {kPart, 5}}));
  EXPECT_EQ(Cut(2 * kPart - 1, kPart + 2), (Pieces{{2 * kPart - 1, 1}, {2 * kPart, kPart}, {3 * kPart, 1}}));
  EXPECT_EQ(Cut(kBytes - 200, 100), (Pieces{{kBytes - 200, 100}}));
  // A mapping inside the pool shares its pages.
  EXPECT_TRUE(pages_->Pin(begin_ + kPart, kPage).ok());
  pages_->Unpin(begin_ + kPart, kPage);
  EXPECT_EQ(Cut(kPart, 10), (Pieces{{kPart, 10}}));
  pages_->RemovePool(begin_);
  EXPECT_FALSE(TryCut(kPart, 10).ok());
}

TEST_P(PinnedPagesTest, MemoryOfSynHostMallocIsNotMappedAgain) {
  void* data = nullptr;
  ASSERT_EQ(runtime().functions().synHostMalloc(module_->device(), 2 * kPage, 0, &data), synapse::synSuccess);
  const auto address = reinterpret_cast<uint64_t>(data);
  pages_->AddPinned(address, 2 * kPage);
  EXPECT_TRUE(pages_->Pin(address + 8, 8).ok());
  pages_->Unpin(address + 8, 8);
  pages_->RemovePinned(address, 2 * kPage);
  EXPECT_EQ(runtime().functions().synHostFree(module_->device(), data, 0), synapse::synSuccess);
}

TEST_P(PinnedPagesTest, FailuresLeaveNothingPinned) {
  module_.reset();
  Set("SYNAPSE_DOUBLE_FAIL_CALLS", "synHostMap:3:3");
  RestartRuntime();
  module_ = *AcquiredModule::Acquire(runtime(), {});
  PinnedPages pages(runtime().functions(), module_->device());
  EXPECT_TRUE(pages.Pin(begin_ + kPage, kPage).ok());
  const absl::Status status = pages.Pin(begin_, 3 * kPage);  // maps page 0, then fails at page 2
  ExpectError(status, absl::StatusCode::kResourceExhausted, "cannot map 4096 bytes of host memory for the device");
  EXPECT_TRUE(pages.Pin(begin_, 3 * kPage).ok());  // the double aborts if page 0 is still mapped
  pages.Unpin(begin_, 3 * kPage);
  pages.Unpin(begin_ + kPage, kPage);
}

HPU_GAUDI_SUITE(PinnedPagesTest);

}  // namespace
}  // namespace hpu::gaudi
