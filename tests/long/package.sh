#!/usr/bin/env bash
# Builds the Debian package, installs it into a bare Debian 12 and uses it there as a new user: the
# first answer, completion in three shells, man pages, the wheel of the Python package beside it,
# removal.
#   tests/long/package.sh     as root; needs debootstrap
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/long/bare_root.sh
root=$work/root

quietly "$work/build.log" scripts/build-package.sh "$work"
package=$(ls "$work"/cobra_*.deb)
echo "package: $(basename "$package"), $(du -k "$package" | cut -f1) kB, needs $(dpkg-deb --field "$package" Depends | tr ',' '\n' | wc -l) packages"
make_root "$root"
cp "$package" "$root/tmp/"
cp examples/convnet.py "$root/tmp/"
start=$(date +%s)
inside apt-get update -qq
quietly "$work/apt.log" inside apt-get install -y -qq "/tmp/$(basename "$package")"
installed=$(date +%s)
new_user
as_user cobra-client predict /tmp/convnet.py --entry "ConvNet(ConvNetConfig.named('s'))" --input 1x3x192x192 --target cpu-epyc-genoa-1t
answered=$(date +%s)
echo "package: installed in $((installed - start)) s with apt, first answer $((answered - installed)) s later"
as_user cobra-client predict /usr/lib/python3/dist-packages/torchvision/models/resnet.py --entry "resnet18()" --input 1x3x224x224 --target cpu-epyc-genoa-1t
as_user cobra-worker describe >/dev/null
as_user cobra-train --version

quietly "$work/apt2.log" inside apt-get install -y -qq --no-install-recommends man-db fish zsh bash-completion systemd
# Pages that apt leaves out of a container are unpacked here; of each, what man has to say against
# it.
dpkg-deb --fsys-tarfile "$package" | tar -x -C "$root" --wildcards './usr/share/man/*'
for page in cobra-client cobra-client-predict cobra-server cobra-train-fit; do
  inside man --warnings -l "/usr/share/man/man1/$page.1.gz" >"$work/page" 2>"$work/warnings" || { cat "$work/warnings" >&2; exit 1; }
  grep -q -- --help "$work/page" && [ ! -s "$work/warnings" ] || { cat "$work/warnings" >&2; echo "package: $page: bad man page" >&2; exit 1; }
done
offered=$(as_user fish -c 'complete -C "cobra-client pred"' | cut -f1)
[ "$offered" = predict ] || { echo "package: fish offers '$offered' for 'pred', not 'predict'" >&2; exit 1; }
offered=$(as_user fish -c 'complete -C "cobra-client predict --format "')
grep -q json <<<"$offered"
inside zsh -c 'autoload -Uz compinit && compinit -u && [[ -n ${_comps[cobra-client]} ]] && zsh -n /usr/share/zsh/vendor-completions/_cobra-client'
inside bash -c 'source /usr/share/bash-completion/bash_completion && _comp_load cobra-client 2>/dev/null || source /usr/share/bash-completion/completions/cobra-client; complete -p cobra-client' >/dev/null
inside systemd-analyze verify /lib/systemd/system/cobra-server.service
echo "package: man pages, completions and the service file are accepted"
# The wheel, with Debian's gRPC.
quietly "$work/apt3.log" inside apt-get install -y -qq --no-install-recommends python3-grpcio python3-protobuf python3-venv
cp "$work"/cobra_latency-*.whl "$root/tmp/"
as_user /usr/bin/python3 -m venv --system-site-packages /home/ada/env
as_user sh -c '/home/ada/env/bin/pip install --quiet --no-deps /tmp/cobra_latency-*.whl'
as_user /home/ada/env/bin/python -c '
import cobra_latency
with cobra_latency.local() as client:
    source = cobra_latency.Source("/tmp/convnet.py", "ConvNet(ConvNetConfig.named(\"s\"))")
    print(client.predict(source, "1x3x192x192", "cpu-epyc-genoa-1t"))'
echo "package: the wheel answers"
inside apt-get purge -y -qq cobra >/dev/null 2>&1
left=$(inside find / -xdev -name '*cobra*' -not -path '/proc/*' -not -path '/tmp/*' -not -path '/home/*' -not -path '/var/log/*' -not -path '/var/cache/*' -not -path '/run/*' -not -path '/var/lib/dpkg/*' 2>/dev/null || true)
[ -z "$left" ] || { echo "package: removal leaves $left" >&2; exit 1; }
echo "package: ok"
