# What the provisioning scripts share. Sourced by each; does nothing by itself.
#
# Every script installs one thing under $EDITORS, says nothing when it is there already, and ends
# with status 3 and one sentence when something it needs is missing.

set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
EDITORS=${ROPEWALK_EDITORS:-$repository/target/editors}
mkdir -p "$EDITORS"

# lacking SENTENCE: ends the script because of something this machine doesn't have.
lacking() {
    echo "$1" >&2
    exit 3
}

# installed NAME STAMP: whether NAME was installed whole, from exactly this description.
installed() {
    [[ -f "$EDITORS/$1/.stamp" && $(<"$EDITORS/$1/.stamp") == "$2" ]]
}

# fresh NAME: an empty folder beside the final one, printed; finish puts it in place.
fresh() {
    rm -rf "$EDITORS/$1.new"
    mkdir -p "$EDITORS/$1.new"
    echo "$EDITORS/$1.new"
}

# finish NAME STAMP: makes what fresh gave the installed one, whole or not at all.
finish() {
    printf '%s' "$2" >"$EDITORS/$1.new/.stamp"
    rm -rf "${EDITORS:?}/$1"
    mv "$EDITORS/$1.new" "$EDITORS/$1"
}

# package NAME@VERSION INTEGRITY: fetches one npm package into the current folder as NAME.tgz, and
# checks it against the digest written down here.
package() {
    local name=${1%@*} found
    npm pack --silent "$1" >/dev/null
    mv "$name"-*.tgz "$name.tgz"
    found=sha512-$(node -p 'require("crypto").createHash("sha512")
        .update(require("fs").readFileSync(process.argv[1])).digest("base64")' "$name.tgz")
    if [[ $found != "$2" ]]; then
        echo "$1 is not what it was: expected $2, got $found" >&2
        exit 1
    fi
}
