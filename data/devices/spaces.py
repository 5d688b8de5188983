#!/usr/bin/env python3
"""Writes data/devices/spaces.csv: one row per column of lab/data/help_*; what the makers' data
sheets say of the device."""
import csv
import os

HERE = os.path.dirname(os.path.abspath(__file__))
GPU_BATCHES = (1, 32, 64, 256)
# family: name, cores, boost clock in MHz, board power in W, data sheet
GPUS = {
    "1080ti": ("GeForce GTX 1080 Ti", 3584, 1582, 250, "NVIDIA, GeForce GTX 1080 Ti specifications"),
    "2080ti": ("GeForce RTX 2080 Ti", 4352, 1545, 250, "NVIDIA, GeForce RTX 2080 Ti specifications"),
    "titanx": ("GeForce GTX TITAN X", 3072, 1075, 250, "NVIDIA, GeForce GTX TITAN X specifications"),
    "titanxp": ("NVIDIA TITAN Xp", 3840, 1582, 250, "NVIDIA, TITAN Xp specifications"),
    "titan_xp": ("NVIDIA TITAN Xp", 3840, 1582, 250, "NVIDIA, TITAN Xp specifications"),
    "titan_rtx": ("NVIDIA TITAN RTX", 4608, 1770, 280, "NVIDIA, TITAN RTX specifications"),
    "v100": ("Tesla V100 PCIe", 5120, 1380, 250, "NVIDIA, V100 data sheet"),
}
# column: name, kind, cores, clock, power, data sheet. Empty: no maker states it.
OTHERS = {
    "silver_4114": ("Intel Xeon Silver 4114", "cpu", 10, 3000, 85, "Intel ARK"),
    "silver_4210r": ("Intel Xeon Silver 4210R", "cpu", 10, 3200, 100, "Intel ARK"),
    "gold_6240": ("Intel Xeon Gold 6240", "cpu", 18, 3900, 150, "Intel ARK"),
    "samsung_a50": ("Samsung Galaxy A50 (Exynos 9610)", "phone", 8, 2300, "", "Samsung, Exynos 9610"),
    "samsung_s7": ("Samsung Galaxy S7 (Exynos 8890)", "phone", 8, 2300, "", "Samsung, Exynos 8 Octa 8890"),
    "pixel2": ("Google Pixel 2 (Snapdragon 835)", "phone", 8, 2350, "", "Google, Pixel 2 tech specs"),
    "pixel3": ("Google Pixel 3 (Snapdragon 845)", "phone", 8, 2500, "", "Google, Pixel 3 tech specs"),
    "essential_ph_1": ("Essential PH-1 (Snapdragon 835)", "phone", 8, 2450, "", "Qualcomm, Snapdragon 835"),
    "eyeriss": ("Eyeriss", "accelerator", 168, 200, 0.278, "Chen et al., ISSCC 2016"),
    "fpga": (
        "Xilinx ZC706 (Zynq-7045)",
        "accelerator",
        900,
        "",
        "",
        "Xilinx DS190: DSP slices; HW-NAS-Bench, ICLR 2021",
    ),
}

with open(os.path.join(HERE, "spaces.csv"), "w", newline="") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow(["device", "name", "family", "kind", "batch", "cores", "clock_mhz", "power_w", "source"])
    for family, (name, cores, clock, power, source) in GPUS.items():
        for batch in GPU_BATCHES:
            out.writerow([f"{family}_{batch}", name, family, "gpu", batch, cores, clock, power, source])
    for device, (name, kind, cores, clock, power, source) in OTHERS.items():
        out.writerow([device, name, device, kind, 1, cores, clock, power, source])
