# Sourced by the other scripts: makes sure that what the build needs is there, and says what it does.
# Takes pairs of "what is looked for" and "the Debian package that has it": prepare cmake=cmake c++=g++ …

prepare() {
    need_cargo
    need_packages "$@"
}

need_packages() {
    local missing=() pair
    for pair in "$@"; do
        have "${pair%%=*}" || missing+=("${pair#*=}")
    done
    [ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}"
}

need_cargo() {
    command -v cargo >/dev/null && return
    echo "impairlab needs Rust 1.89 or newer. Install it with the command that https://rustup.rs shows, then start again." >&2
    exit 1
}

# A command on the PATH, a file, or a shared library.
have() {
    case "$1" in
        /*) [ -e "$1" ] ;;
        lib*) compgen -G "/usr/lib/*/$1*" >/dev/null || compgen -G "/usr/lib/llvm-*/lib/$1*" >/dev/null ;;
        *) command -v "$1" >/dev/null ;;
    esac
}

install_packages() {
    if ! command -v apt-get >/dev/null; then
        echo "Missing: $*. Install them with your system's package manager, then start again." >&2
        exit 1
    fi
    if [ "$(id -u)" -ne 0 ]; then
        echo "Missing: $*. Install them with:" >&2
        echo "    sudo apt-get install $*" >&2
        exit 1
    fi
    echo "Installing $* (apt-get) …" >&2
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq >&2
    apt-get install -y -qq --no-install-recommends "$@" >&2
}
