# Runs the command in the virtual machine, its output to the host, and switches the machine off.
b=/run/job/busybox
exec 3<>/dev/hvc0 # kept open: the terminal forgets its settings on the last close
$b stty raw -echo <&3
{
    /bin/bash /run/job/command </dev/null 3>&-
    echo $? >/run/job/status
} 2>&1 | $b cat >&3 # a pipe: programs then write blocks, which is faster here
$b stty raw <&3     # waits until all is written
$b sync             # what was written to the shared folder is only cached yet
# The device isa-debug-exit ends QEMU at once; without it a reboot does, a second later.
$b printf '\000' | $b dd of=/dev/port bs=1 seek=244 conv=notrunc 2>/dev/null
$b reboot -f
