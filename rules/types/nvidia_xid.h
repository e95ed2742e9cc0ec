/* Errors of GPUs, as the kernel's log has them: `NVRM: Xid (PCI:0000:06:00): 79, ...`. Names:
   NVIDIA's open-gpu-kernel-modules (nverror.h), and NVIDIA's catalog of XID errors for what they
   mean. */
#ifndef NVIDIA_XID_H
#define NVIDIA_XID_H

enum nv_xid {
    ROBUST_CHANNEL_GR_EXCEPTION = 13, /* exception of the graphics engine: the program's */
    ROBUST_CHANNEL_FIFO_ERROR_MMU_ERR_FLT = 31, /* page fault of the GPU: the program's */
    ROBUST_CHANNEL_PBDMA_ERROR = 32,            /* broken stream of commands */
    ROBUST_CHANNEL_CE0_ERROR = 39,              /* of copy engines */
    ROBUST_CHANNEL_CE1_ERROR = 40,
    ROBUST_CHANNEL_CE2_ERROR = 41,
    ROBUST_CHANNEL_RESETCHANNEL_VERIF_ERROR = 43, /* a program's channel was stopped */
    ROBUST_CHANNEL_GR_FAULT_DURING_CTXSW = 44,
    ROBUST_CHANNEL_PREEMPTIVE_REMOVAL = 45, /* cleaned up behind another error */
    ROBUST_CHANNEL_NVENC0_ERROR = 47,
    ROBUST_CHANNEL_GPU_ECC_DBE = 48, /* memory: two bits wrong */
    PMU_ERROR = 59,
    PMU_BREAKPOINT = 61, /* microcontroller halted */
    PMU_HALT_ERROR = 62,
    INFOROM_DRAM_RETIREMENT_EVENT = 63,   /* a row or page of memory is replaced */
    INFOROM_DRAM_RETIREMENT_FAILURE = 64, /* ... and could not be */
    ROBUST_CHANNEL_NVDEC0_ERROR = 68,
    ROBUST_CHANNEL_GR_CLASS_ERROR = 69, /* exception of the graphics engine */
    ROBUST_CHANNEL_CE3_ERROR = 70,
    ROBUST_CHANNEL_CE4_ERROR = 71,
    ROBUST_CHANNEL_CE5_ERROR = 72,
    NVLINK_ERROR = 74,
    VGPU_START_ERROR = 78,
    ROBUST_CHANNEL_GPU_HAS_FALLEN_OFF_THE_BUS = 79,
    PBDMA_PUSHBUFFER_CRC_MISMATCH = 80,
    NVTELEMETRY_DRIVER_REPORT = 87,
    EXCESSIVE_SBE_INTERRUPTS = 92, /* memory: many single wrong bits, corrected */
    INFOROM_ERASE_LIMIT_EXCEEDED = 93,
    ROBUST_CHANNEL_CONTAINED_ERROR = 94,   /* memory: only the program that met it ends */
    ROBUST_CHANNEL_UNCONTAINED_ERROR = 95, /* memory: any program may be affected */
    GSP_RPC_TIMEOUT = 119,                 /* the GPU's own processor does not answer */
    GSP_ERROR = 120,
    C2C_ERROR = 121, /* link between chips */
    SPI_PMU_RPC_READ_FAIL = 122,
    SPI_PMU_RPC_WRITE_FAIL = 123,
    SPI_PMU_RPC_ERASE_FAIL = 124,
    INFOROM_FS_ERROR = 125
};

#endif
