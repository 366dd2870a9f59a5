# Sourced by scripts/netem-vm: Debian's 6.12 kernel, its modules and an initramfs, made once and
# kept in the cache folder, one folder a version. Nothing is installed on the host.

# Prints the folder that holds `kernel`, `initramfs` and `modules`. The newest one there is taken;
# remove it to get a newer one.
kernel_folder() {
    local cache=${XDG_CACHE_HOME:-$HOME/.cache}/impairlab/vm newest
    newest=$(ls -d "$cache"/6.12.* 2>/dev/null | sort -V | tail -n 1)
    if [ -z "$newest" ]; then
        mkdir -p "$cache"
        newest=$(make_kernel_folder "$cache")
    fi
    echo "$newest"
}

# Made beside its place and moved there when it is whole, so that whatever is found there is whole.
make_kernel_folder() (
    set -euo pipefail
    cache=$1
    package=$(kernel_package)
    new=$(mktemp -d "$cache/.new.XXXXXX")
    trap 'rm -rf "$new"' EXIT
    echo "Fetching $package and busybox-static, once, to keep what is needed in $cache …" >&2
    fetch "$new/package" "$package" busybox-static

    version=$(ls "$new/package/lib/modules")
    mkdir "$new/$version"
    cp "$new/package/boot/vmlinuz-$version" "$new/$version/kernel"
    unpack_modules "$new/package" "$version" "$new/$version/modules"
    pack_initramfs "$new/package/bin/busybox" "$new/$version"
    # Whoever was quicker has made the same.
    mv -T "$new/$version" "$cache/$version" 2>/dev/null || [ -d "$cache/$version" ]
    echo "$cache/$version"
)

kernel_package() {
    local package pattern='^linux-image-6\.12\.[0-9]+\+deb[0-9]+-amd64$'
    package=$(apt-cache search --names-only "$pattern" 2>/dev/null | cut -d' ' -f1 |
        sort -V | tail -n 1)
    if [ -z "$package" ]; then
        echo "netem-vm: apt knows no package linux-image-6.12.*-amd64, which is in Debian 13" >&2
        echo "and in the security updates of Debian 12. \`apt-get update\` may be needed." >&2
        return 1
    fi
    echo "$package"
}

# fetch FOLDER PACKAGE…: downloads packages (apt checks their signatures) and unpacks them there.
fetch() (
    folder=$1
    shift
    mkdir "$folder"
    cd "$folder"
    apt-get -qq -o APT::Sandbox::User="$(id -un)" download "$@" >&2
    for package in *.deb; do
        dpkg-deb --extract "$package" .
    done
)

# Those of the network and what they need, not those for the world's hardware.
unpack_modules() (
    cd "$1/lib/modules/$2"
    mkdir -p "$3"
    find kernel/{net,lib,crypto,fs/9p,fs/netfs,fs/overlayfs} -name '*.ko*' >"$3/list"
    find kernel/drivers/net -maxdepth 1 -name '*.ko*' >>"$3/list"
    tar --create --files-from "$3/list" | tar --extract --directory "$3"
    rm "$3/list"
    find "$3" -name '*.ko.xz' -exec xz --decompress {} +
    cp modules.builtin modules.builtin.modinfo modules.order "$3"
    # depmod expects the folder in lib/modules.
    mkdir -p "$1/tree/lib/modules"
    mv "$3" "$1/tree/lib/modules/$2"
    "$1/bin/busybox" depmod -b "$1/tree" "$2"
    mv "$1/tree/lib/modules/$2" "$3"
)

# Just what it takes to reach the host's files.
pack_initramfs() (
    busybox=$1 folder=$2 modules=$2/modules/kernel root=$2/initramfs.d
    mkdir -p "$root"/{bin,modules,proc,sys,dev,host,memory,root}
    cp "$busybox" "$root/bin/busybox"
    cp "$modules"/fs/{netfs/netfs,9p/9p,overlayfs/overlay}.ko \
        "$modules"/net/9p/{9pnet,9pnet_virtio}.ko "$root/modules"
    cp "$home/scripts/vm/init" "$root/init"
    chmod 755 "$root/init"
    (cd "$root" && find . | "$busybox" cpio --create -H newc 2>/dev/null) >"$folder/initramfs"
    rm -r "$root"
)
