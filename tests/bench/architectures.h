// Requests for networks that an architecture string names.
#ifndef COBRA_TESTS_BENCH_ARCHITECTURES_H_
#define COBRA_TESTS_BENCH_ARCHITECTURES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "cobra/v1/cobra.pb.h"
#include "grpcpp/grpcpp.h"

namespace cobra::bench {

// The cells of NAS-Bench-201 in a fixed order: five operations on each of six edges.
inline constexpr size_t kNasbench201Cells = 15625;
std::string Nasbench201Cell(size_t number);  // "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|..."

// Of `count` networks of NAS-Bench-201 as published, spread over the whole space.
std::vector<v1::PredictRequest> Nasbench201Requests(size_t count, const std::string& target);

// As a search asks: the reply says nothing of the network but its latencies.
void AskForLatenciesOnly(v1::PredictRequest* request);

// The messages of a stream of these requests; the id of each is its position.
std::vector<grpc::ByteBuffer> StreamMessages(const std::vector<v1::PredictRequest>& requests);

}  // namespace cobra::bench

#endif  // COBRA_TESTS_BENCH_ARCHITECTURES_H_
