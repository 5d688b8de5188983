# An apt beside the machine's own, for scripts to source: the machine's sources, also of source
# packages and of another architecture, with lists and a cache in a folder. Nothing is installed.

# private_apt FOLDER ARCH ARGUMENT...: apt-get for the architecture, in FOLDER. For another one than
# the machine's, nothing counts as installed. With PRIVATE_APT_RELEASE=trixie of that release.
private_apt() {
  local folder=$1 arch=$2 file options release
  release=$(. /etc/os-release && echo "$VERSION_CODENAME")
  shift 2
  mkdir -p "$folder/sources" "$folder/lists/partial" "$folder/archives/partial"
  for file in /etc/apt/sources.list.d/*.sources; do
    [ -e "$file" ] && sed -e 's/^Types:.*/Types: deb deb-src/' -e '/^Architectures:/d' -e "/^Suites:/s/$release/${PRIVATE_APT_RELEASE:-$release}/g" "$file" >"$folder/sources/$(basename "$file")"
  done
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ -e "$file" ] && sed -n -e 's/^deb /deb-src /p; s/^deb-src /deb /p; /^deb/p' "$file" | sed "s/ $release/ ${PRIVATE_APT_RELEASE:-$release}/" | sort -u >"$folder/sources/$(basename "$file" .list).list"
  done
  options=(-o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$folder/sources" -o "Dir::State::lists=$folder/lists"
    -o "Dir::Cache=$folder" -o "Dir::Cache::archives=$folder/archives" -o APT::Keep-Downloaded-Packages=true -o "APT::Sandbox::User=$(id -un)")
  if [ "$arch" != "$(dpkg --print-architecture)" ]; then
    : >"$folder/status"
    options+=(-o "APT::Architecture=$arch" -o "APT::Architectures::=$arch" -o "Dir::State::status=$folder/status")
  fi
  apt-get -qq "${options[@]}" "$@"
}
