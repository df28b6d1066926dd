"""HAP's limits: what a case must cost on given hardware. Pure: neither torch nor numpy."""

from kernel_eval.hap.cost import CostRecord, Lanes, VectorWork, Work
from kernel_eval.hap.cpu import CPU_PRESET, cpu_limit, pool_bytes_per_s
from kernel_eval.hap.hardware import HARDWARE, MODEL_VERSION, Figure, Hardware, Preset, preset_of
from kernel_eval.hap.npu import npu_limit
from kernel_eval.hap.peaks import (
    CacheLevel,
    CpuPeaks,
    FingerprintMatch,
    Match,
    best_of,
    compare_fingerprints,
    load_peaks,
    peaks_from_json,
    peaks_to_json,
    save_peaks,
)
from kernel_eval.hap.records import RECORDS, work_of

__all__ = [
    "CPU_PRESET",
    "HARDWARE",
    "MODEL_VERSION",
    "RECORDS",
    "CacheLevel",
    "CostRecord",
    "CpuPeaks",
    "Figure",
    "FingerprintMatch",
    "Hardware",
    "Lanes",
    "Match",
    "Preset",
    "VectorWork",
    "Work",
    "best_of",
    "compare_fingerprints",
    "cpu_limit",
    "load_peaks",
    "npu_limit",
    "peaks_from_json",
    "peaks_to_json",
    "pool_bytes_per_s",
    "preset_of",
    "save_peaks",
    "work_of",
]
