#include "server/queue/unseen_layers.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/time/clock.h"
#include "graph/builder/builder.h"
#include "graph/form/graph_bytes.h"
#include "gtest/gtest.h"
#include "store/queue/task_queue.h"
#include "store/sql/sql.h"
#include "store/store.h"
#include "tests/temporary_directory.h"

namespace cobra::server {
namespace {

// A sigmoid that the model does not know, behind some calls that it does.
graph::Graph Network(int64_t width) {
  graph::GraphBuilder builder;
  graph::ValueRef x = builder.AddInput("x", {{1, width}});
  for (int i = 0; i < 20; ++i) x = graph::ValueRef::Node(builder.Add(graph::Op::relu, {}, {x}).value());
  x = graph::ValueRef::Node(builder.Add(graph::Op::sigmoid, {}, {x}).value());
  return std::move(builder).Build({x});
}

predict::LatencyPrediction LastIsUnknown(const graph::Graph& graph) {
  predict::LatencyPrediction prediction;
  prediction.node_unknown.resize(graph.nodes().size());
  prediction.node_unknown.back() = "was never measured";
  return prediction;
}

class UnseenLayersTest : public testing::Test {
 protected:
  UnseenLayersTest() {
    database_ = store::OpenDatabase(directory_.File("queue.sqlite")).value();
    EXPECT_TRUE(store::PrepareSchema(database_.get()).ok());
    queue_ = std::make_unique<store::TaskQueue>(store::OpenDatabase(directory_.File("queue.sqlite")).value());
  }

  void Start() { unseen_ = std::make_unique<UnseenLayers>(options_, queue_.get(), &metrics_); }
  void Offer(const graph::Graph& graph, const std::string& target, const std::string& caller) {
    unseen_->Offer(graph, LastIsUnknown(graph), target, caller);
  }
  // What is offered meanwhile waits: another one's transaction keeps the first network from the
  // queue.
  void WhileTheQueueIsBusy(absl::FunctionRef<void()> body) {
    const absl::Status status = database_->Transaction([&](store::SqlSession& session) -> absl::Status {
      const absl::Status locked = session.Execute("DELETE FROM tasks WHERE id = 'none'");
      if (!locked.ok()) return locked;
      Offer(Network(1), "busy", "first");
      while (unseen_->waiting_bytes() > 0) absl::SleepFor(absl::Milliseconds(1));
      body();
      return absl::OkStatus();
    });
    EXPECT_TRUE(status.ok()) << status;
  }
  size_t Enqueued(const std::string& target) {
    EXPECT_TRUE(unseen_->Flush(absl::Now() + absl::Seconds(20)));
    return queue_->Lease(target, "w", 99, absl::Seconds(60)).value().size();
  }

  UnseenLayersOptions options_;
  tests::TemporaryDirectory directory_;
  Metrics metrics_;
  std::unique_ptr<store::SqlDatabase> database_;
  std::unique_ptr<store::TaskQueue> queue_;
  std::unique_ptr<UnseenLayers> unseen_;
};

TEST_F(UnseenLayersTest, NoCallersNetworksTakeTheRoomOfOthers) {
  const int64_t bytes = graph::GraphBytes(Network(100));
  options_.max_waiting_bytes_per_caller = 3 * bytes;
  options_.max_waiting_bytes = 4 * bytes;
  Start();
  WhileTheQueueIsBusy([&] {
    for (int64_t width = 100; width < 120; ++width) Offer(Network(width), "greedy", "greedy");
    EXPECT_EQ(unseen_->waiting_bytes(), 3 * bytes);
    Offer(Network(200), "modest", "modest");
    EXPECT_EQ(unseen_->waiting_bytes(), 4 * bytes);
    Offer(Network(300), "late", "late");  // in the place of the greedy one's newest
    EXPECT_EQ(unseen_->waiting_bytes(), 4 * bytes);
    Offer(Network(120), "greedy", "greedy");  // which does not come back
    EXPECT_EQ(unseen_->waiting_bytes(), 4 * bytes);
  });
  EXPECT_EQ(Enqueued("greedy"), 4u);  // a layer and a network for each of two
  EXPECT_EQ(Enqueued("modest"), 2u);
  EXPECT_EQ(Enqueued("late"), 2u);
}

TEST_F(UnseenLayersTest, ANetworkOfMoreBytesThanACallerMayHaveDoesNotWait) {
  options_.max_waiting_bytes_per_caller = graph::GraphBytes(Network(100)) - 1;
  Start();
  Offer(Network(100), "cpu", "caller");
  EXPECT_EQ(unseen_->waiting_bytes(), 0);
  EXPECT_EQ(Enqueued("cpu"), 0u);
}

// x.unbind()[7].sigmoid(): a small program, and a layer of thousands of tensors.
TEST_F(UnseenLayersTest, ALayerBehindALargeViewIsNotMeasured) {
  graph::GraphBuilder builder;
  const graph::ValueRef x = builder.AddInput("x", {{5000, 4}});
  ASSERT_TRUE(builder.Add(graph::Op::unbind, {{"dim", int64_t{0}}}, {x}).ok());
  ASSERT_TRUE(builder.Add(graph::Op::sigmoid, {}, {graph::ValueRef::Node(0, 7)}).ok());
  const graph::Graph network = std::move(builder).Build({graph::ValueRef::Node(1)});
  Start();
  Offer(network, "cpu", "caller");
  EXPECT_EQ(Enqueued("cpu"), 0u);
  Offer(Network(8), "cpu", "caller");
  EXPECT_EQ(Enqueued("cpu"), 2u);
}

}  // namespace
}  // namespace cobra::server
