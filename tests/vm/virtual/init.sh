#!/bin/busybox sh
# The first program in the virtual machine: lays the kernel's tree and a tmpfs over the host's root
# and goes there.
b=/bin/busybox
die() { echo "init: $*" >/dev/console; $b reboot -f; }
share() { # share TAG FOLDER OPTIONS: a folder of the host
    $b mkdir -p "$2"
    $b mount -t 9p -o "trans=virtio,version=9p2000.L,msize=512000,$3" "$1" "$2" || die "9p $1"
}

for folder in proc sys dev rw; do $b mkdir -p /$folder; done
$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
$b mount -t devtmpfs dev /dev
for module in /modules/*.ko; do $b insmod "$module" || die "insmod $module"; done

share vmroot /lower ro,cache=loose
share vmkernel /kernel ro,cache=loose
$b mount -t tmpfs -o size=75%,mode=755 tmpfs /rw
$b mkdir /rw/upper /rw/work /new
layers=lowerdir=/kernel:/lower,upperdir=/rw/upper,workdir=/rw/work
$b mount -t overlay -o "$layers,xino=off" overlay /new || die overlay
for folder in proc sys dev; do $b mount -o move /$folder /new/$folder; done

$b mount -t tmpfs -o mode=1777 tmpfs /new/tmp
$b mount -t tmpfs -o mode=755 tmpfs /new/run
$b mkdir -p /new/run/lock /new/dev/pts /new/dev/shm
$b mount -t devpts -o gid=5,mode=620,ptmxmode=666 devpts /new/dev/pts
$b mount -t tmpfs -o mode=1777 tmpfs /new/dev/shm
for link in fd:fd stdin:fd/0 stdout:fd/1 stderr:fd/2; do
    $b ln -sf "/proc/self/${link#*:}" "/new/dev/${link%:*}"
done
$b mount -t debugfs debugfs /new/sys/kernel/debug
$b mount -t tracefs tracefs /new/sys/kernel/tracing
$b mount -t bpf bpf /new/sys/fs/bpf
$b mount -t cgroup2 cgroup2 /new/sys/fs/cgroup
$b ip link set lo up
$b hostname vm
echo 0 >/new/proc/sys/kernel/kptr_restrict

share vmjob /new/run/job rw,cache=none
number=0
while read -r folder; do
    share "vmfolder$number" "/new$folder" rw,cache=loose
    number=$((number + 1))
done </new/run/job/folders
exec $b switch_root /new /run/job/busybox sh /run/job/job.sh
