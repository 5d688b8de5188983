// A generated service with only raw methods: the bytes of a request are checked before they are parsed
// (message_bytes.h).
#ifndef COBRA_SERVER_RAW_SERVICE_H_
#define COBRA_SERVER_RAW_SERVICE_H_

namespace cobra::server {

// RawService<S, A, B>::Type is A<B<S>>.
template <typename Service, template <typename> class... RawMethods>
struct RawService {
  using Type = Service;
};
template <typename Service, template <typename> class First, template <typename> class... Others>
struct RawService<Service, First, Others...> {
  using Type = First<typename RawService<Service, Others...>::Type>;
};

// For one of the lists in rpcs.h: RawService<v1::Cobra::Service COBRA_RPCS_OF_COBRA(COBRA_RAW_METHOD)>.
#define COBRA_RAW_METHOD(service, method, kind, role) , v1::service::WithRawCallbackMethod_##method

}  // namespace cobra::server

#endif  // COBRA_SERVER_RAW_SERVICE_H_
