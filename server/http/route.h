// Where an RPC is on the HTTP side. Paths follow from names, so that no RPC is forgotten:
//   ListTargets   GET /v1/targets      what begins with List or Get is asked for by a query
//   PredictBatch  POST /v1/predict-batch
#ifndef COBRA_SERVER_HTTP_ROUTE_H_
#define COBRA_SERVER_HTTP_ROUTE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "google/protobuf/descriptor.h"

namespace cobra::http {

struct Route {
  std::string method;  // "GET" or "POST"
  std::string path;    // "/v1/targets"
  const google::protobuf::MethodDescriptor* rpc = nullptr;
  bool as_report = false;  // the reply is the document of a report, which is JSON already
};

inline constexpr char kOpenApiPath[] = "/v1/openapi.json";

// `service`: "cobra.v1.Cobra"; `method`: "ListTargets". REQUIRES: the program has that service.
Route RouteOf(absl::string_view service, absl::string_view method);

// Predict for the page of /ui: what it draws.
Route ReportRoute();

// Whether a form (predict_form.h) may stand for the request's JSON.
inline bool TakesForm(const Route& route) { return route.rpc->full_name() == "cobra.v1.Cobra.Predict"; }

}  // namespace cobra::http

#endif  // COBRA_SERVER_HTTP_ROUTE_H_
