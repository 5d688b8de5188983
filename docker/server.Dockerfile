# cobra-server and cobra-client with the shipped weights. From the repository's root:
#   docker build -f docker/server.Dockerfile -t cobra-server .        (or buildah bud)
# BASE may be any image of Debian 12 that apt works in.
ARG BASE=debian:12

FROM ${BASE} AS build
WORKDIR /src
# The packages change less often than the sources: a layer of their own.
COPY scripts/setup.sh scripts/setup.sh
RUN scripts/setup.sh --without-lab
COPY . .
RUN scripts/build.sh --without-lab release cobra-server cobra-client cobra-worker

FROM ${BASE}
# Runtime libraries only; python3-torchvision is source to import from, no Python runs.
RUN apt-get update -qq \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
      ca-certificates libgrpc++1.51 liblzma5 libonnx1 libopenblas0-pthread libpq5 libprometheus-cpp-core1.0 libprotobuf32 libseccomp2 libsqlite3-0 libtorch1.13 libutf8proc2 \
      python3-torchvision zlib1g >/dev/null \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --uid 10001 --user-group --shell /usr/sbin/nologin --home-dir /var/lib/cobra --create-home cobra
COPY --from=build /src/build/release/bin/cobra-server /src/build/release/bin/cobra-client /src/build/release/bin/cobra-worker /src/build/release/bin/cobra-reader /usr/local/bin/
COPY --from=build /src/model/pretrained /usr/share/cobra/model
COPY --from=build /src/LICENSE /usr/share/doc/cobra/LICENSE
USER cobra
WORKDIR /var/lib/cobra
VOLUME /var/lib/cobra
EXPOSE 50051 9464
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["cobra-client", "model", "--deadline-s", "4"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["cobra-server", "--listen", "0.0.0.0:50051", "--metrics", "0.0.0.0:9464", "--model", "/usr/share/cobra/model", \
            "--store", "/var/lib/cobra/cobra.sqlite", "--library", "/usr/lib/python3/dist-packages"]
# Everybody who reaches the container may do everything: publish its ports on loopback, or replace
# this by --insecure-metrics and credentials (docs/operations.md, Containers).
CMD ["--insecure", "--insecure-metrics"]
