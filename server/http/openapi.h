// The OpenAPI 3.1 document of the JSON API, made from the .proto files with their comments.
#ifndef COBRA_SERVER_HTTP_OPENAPI_H_
#define COBRA_SERVER_HTTP_OPENAPI_H_

#include <string>
#include <vector>

#include "server/http/route.h"

namespace cobra::http {

// `secured`: calls need a token.
std::string OpenApiDocument(const std::vector<Route>& routes, const std::string& version, bool secured);

}  // namespace cobra::http

#endif  // COBRA_SERVER_HTTP_OPENAPI_H_
