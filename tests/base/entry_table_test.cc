#include "base/bytes/entry_table.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/bytes/hash.h"

namespace cobra {
namespace {

struct Numbered {
  Hash128 key;
};

// Keys of which many have a half in common, and many a home.
Hash128 KeyOf(uint64_t number) { return {number / 3 % 500, number}; }

TEST(EntryTableTest, IsWhatAMapIs) {
  std::mt19937_64 random(1);
  EntryTable<Numbered> table;
  std::map<uint64_t, std::unique_ptr<Numbered>> all;
  for (int step = 0; step < 60000; ++step) {
    // Grows, shrinks and grows again.
    const bool grows = step / 20000 != 1;
    const uint64_t number = random() % 1500;
    const auto found = all.find(number);
    Numbered* const entry = table.Find(KeyOf(number));
    ASSERT_EQ(entry, found == all.end() ? nullptr : found->second.get()) << number << " at step " << step;
    ASSERT_TRUE(entry == nullptr || table.FindHalf(KeyOf(number)) != nullptr);
    table.Prefetch(KeyOf(number));
    if (entry != nullptr && (!grows || random() % 4 == 0)) {
      table.Erase(entry);
      all.erase(found);
    } else if (entry == nullptr && grows) {
      auto& added = all[number];
      added = std::make_unique<Numbered>(Numbered{KeyOf(number)});
      table.Insert(added.get());
    }
    ASSERT_EQ(table.size(), all.size());
  }
  ASSERT_GT(all.size(), 500);
  table.Clear();
  EXPECT_EQ(table.size(), 0);
  EXPECT_EQ(table.Find(all.begin()->second->key), nullptr);
  table.Insert(all.begin()->second.get());
  EXPECT_NE(table.Find(all.begin()->second->key), nullptr);
}

TEST(EntryTableTest, HalfAKeyIsNotTheKey) {
  EntryTable<Numbered> table;
  Numbered one{{7, 1}}, other{{7, 2}};
  EXPECT_EQ(table.FindHalf(one.key), nullptr);
  table.Insert(&one);
  EXPECT_EQ(table.Find(other.key), nullptr);
  EXPECT_EQ(table.FindHalf(other.key), &one);
  table.Insert(&other);
  EXPECT_EQ(table.Find(other.key), &other);
  table.Erase(&one);
  EXPECT_EQ(table.Find(one.key), nullptr);
  EXPECT_EQ(table.Find(other.key), &other);
}

// 2 MB of slots and more.
TEST(EntryTableTest, ManyStandOnLargePages) {
  EntryTable<Numbered> table;
  std::vector<Numbered> all;
  for (uint64_t i = 0; i < 300000; ++i) all.push_back({HashBytes(std::to_string(i))});
  for (Numbered& one : all) table.Insert(&one);
  for (Numbered& one : all) ASSERT_EQ(table.Find(one.key), &one);
}

}  // namespace
}  // namespace cobra
