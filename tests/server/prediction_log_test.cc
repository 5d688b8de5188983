#include "server/predict/prediction_log.h"

#include <memory>

#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"
#include "prometheus/text_serializer.h"
#include "tests/server/fake_store.h"

namespace cobra::server {
namespace {

std::string Text(const Metrics& metrics) {
  std::string text;
  for (const auto& collectable : metrics.collectables())
    text += prometheus::TextSerializer().Serialize(collectable->Collect());
  return text;
}

TEST(PredictionLogTest, WritesEverythingBeforeItDies) {
  FakeStore store;
  Metrics metrics;
  {
    PredictionLog log(&store, &metrics);
    for (int i = 0; i < 1000; ++i) log.Append({});
  }
  EXPECT_EQ(store.num_predictions(), 1000);
  EXPECT_NE(Text(metrics).find("cobra_store_rows_total{table=\"predictions\"} 1000"), std::string::npos);
}

TEST(PredictionLogTest, FlushWaitsForTheStore) {
  FakeStore store;
  Metrics metrics;
  PredictionLog log(&store, &metrics);
  log.Append({});
  log.Flush();
  EXPECT_EQ(store.num_predictions(), 1);
}

TEST(PredictionLogTest, SlowStoreDropsAndCounts) {
  absl::Notification go;
  FakeStore store;
  store.block_writes_until = &go;
  Metrics metrics;
  {
    PredictionLog log(&store, &metrics, /*max_pending_bytes=*/1000);
    for (int i = 0; i < 100; ++i) log.Append({});  // at most one batch in the store's hands, few pending
    go.Notify();
  }
  EXPECT_LT(store.num_predictions(), 100);
  EXPECT_EQ(Text(metrics).find("cobra_store_dropped_rows_total{table=\"predictions\"} 0"), std::string::npos);
}

TEST(PredictionLogTest, OneCallerLeavesRoomForOthers) {
  absl::Notification go;
  FakeStore store;
  store.block_writes_until = &go;
  Metrics metrics;
  {
    PredictionLog log(&store, &metrics, /*max_pending_bytes=*/100'000);
    for (int i = 0; i < 10'000; ++i) log.Append({}, "a");
    store::PredictionRecord labelled;
    labelled.labels_json = std::string(2000, 'x');
    for (int i = 0; i < 10; ++i) log.Append(labelled, "b");
    go.Notify();
  }
  EXPECT_EQ(store.num_labelled(), 10);
  EXPECT_LT(store.num_predictions(), 10'000);
}

TEST(PredictionLogTest, WhatABusyDatabaseRefusesIsTriedAgain) {
  FakeStore store;
  store.refuse_writes = 2;
  Metrics metrics;
  PredictionLog log(&store, &metrics);
  for (int i = 0; i < 10; ++i) log.Append({});
  EXPECT_TRUE(log.Flush(absl::Now() + absl::Seconds(30)));
  EXPECT_EQ(store.num_predictions(), 10);
  EXPECT_EQ(store.refuse_writes, 0);
}

TEST(PredictionLogTest, NobodyWaitsForALostStore) {
  FakeStore store;
  store.lost = true;
  Metrics metrics;
  PredictionLog log(&store, &metrics);
  log.Append({});
  EXPECT_FALSE(log.Flush(absl::InfiniteFuture()));
  store.lost = false;  // the file is back, and what has waited is stored
  while (!log.Flush(absl::Now() + absl::Seconds(30))) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_EQ(store.num_predictions(), 1);
}

TEST(PredictionLogTest, FailedWritesAreCounted) {
  FakeStore store;
  store.fail_writes = true;
  Metrics metrics;
  { PredictionLog(&store, &metrics).Append({}); }
  EXPECT_NE(Text(metrics).find("cobra_store_failures_total{table=\"predictions\"} 1"), std::string::npos);
}

}  // namespace
}  // namespace cobra::server
