"""What data/devices says of a device, as the fields of a target.json (model/predict/target/target.h). What
no sheet states is left out."""
import csv, os

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../devices")


def table(name, key):
    with open(os.path.join(FOLDER, name), newline="") as file:
        return {row[key]: row for row in csv.DictReader(file)}


GPUS, INTEGRATED = table("gpus.csv", "name"), table("integrated_gpus.csv", "name")
PROCESSORS, CORES = table("processors.csv", "device"), table("cores.csv", "core")
# Which column of gpus.csv is the peak of a precision. TF32 in convolutions only: matrix products
# are in float32.
PEAKS = {
    "float32": "fp32_gflops",
    "tf32-convolutions": "fp32_gflops",
    "tf32": "tf32_gflops",
    "float16": "fp16_matrix_gflops",
    "amp-float16": "fp16_matrix_gflops",
    "bfloat16": "bf16_matrix_gflops",
}


def filled(fields):
    """Without what is unknown; numbers as numbers."""
    result = {}
    for key, value in fields.items():
        if value not in ("", None, 0):
            result[key] = value if isinstance(value, (int, str)) and not is_number(value) else float(value)
    return result


def is_number(value):
    return isinstance(value, str) and value.replace(".", "", 1).isdigit()


def software(name, runtime, precision, layout, compile, threads):
    return {
        "name": name,
        "runtime": runtime,
        "precision": precision,
        "layout": layout,
        "compile": compile,
        "threads": threads,
    }


def gpu_target(name, device, runtime, precision, layout="nchw", compile="eager"):
    sheet = GPUS[device]
    peak = sheet[PEAKS[precision]] or sheet["fp32_gflops"]
    return {
        **software(name, runtime, precision, layout, compile, 1),
        **filled(
            {
                "device": device,
                "kind": "gpu",
                "peak_gflops": peak,
                "convolution_gflops": (precision == "tf32-convolutions" and sheet["tf32_gflops"]) or peak,
                # What has no matrix to multiply runs on the scalar units.
                "depthwise_gflops": sheet["fp32_gflops"],
                "memory_gb_per_s": sheet["mem_bw_gb_s"],
                "last_level_cache_mb": sheet["l2_mb"],
                "clock_mhz": sheet["freq_mhz"],
                "cores": sheet["num_sm"],
                "memory_gb": sheet["mem_gb"],
                "board_power_w": sheet["board_power_w"],
            }
        ),
    }


def has_float16(gpu):
    """Whether Vulkan's shaders compute in float16 there."""
    if gpu in INTEGRATED:
        return INTEGRATED[gpu]["fp16_arithmetic"] == "yes"
    return bool(GPUS[gpu]["fp16_matrix_gflops"]) or gpu.startswith("Jetson")


def vulkan_target(name, gpu, runtime):
    precision = "float16" if has_float16(gpu) else "float32"
    if gpu in GPUS:
        return gpu_target(name, gpu, runtime, precision)
    sheet = INTEGRATED[gpu]
    return {
        **software(name, runtime, precision, "nchw", "eager", 1),
        **filled(
            {
                "device": gpu,
                "kind": "gpu",
                "peak_gflops": (precision == "float16" and sheet["fp16_gflops"]) or sheet["fp32_gflops"],
                "memory_gb_per_s": sheet["memory_gb_per_s"],
                "clock_mhz": sheet["clock_mhz"],
                "cores": sheet["units"],
            }
        ),
    }


def clusters(device):
    """(core, number, MHz), the fastest first."""
    text = PROCESSORS[device]["clusters"]
    parts = [part.replace("@", "*").split("*") for part in text.split("+")]
    return sorted(((core, int(count), int(mhz)) for core, count, mhz in parts), key=lambda c: -c[2])


def chosen_clusters(device, powersave):
    """As ncnn's set_cpu_powersave: 1 the little cores, 2 the big ones, divided in the middle of
    their clocks."""
    every = clusters(device)
    middle = (every[0][2] + every[-1][2]) / 2
    if powersave == 0 or every[0][2] == every[-1][2]:
        return every
    return [c for c in every if (c[2] > middle) == (powersave == 2)]


def cpu_target(name, device, runtime, precision="", layout="nchw", compile="eager", threads=1, powersave=0):
    """A precision that is not given is that of ncnn: float16 where all cores compute in it."""
    sheet, used = PROCESSORS[device], chosen_clusters(device, powersave)
    if not precision:
        precision = "float16" if all(float(CORES[c[0]]["fp16_flop_per_cycle"] or 0) for c in used) else "float32"
    column = "fp16_flop_per_cycle" if precision == "float16" else "fp32_flop_per_cycle"
    base = int(sheet["base_mhz"] or 0)
    clock = lambda mhz: base if base and threads > 2 else mhz
    left, gflops = threads, 0.0
    for core, count, mhz in used:
        busy = min(left, count)
        gflops += busy * clock(mhz) / 1000 * float(CORES[core][column] or 0)
        left -= busy
    l2_mb = float(sheet["l2_kb"] or 0) / 1024
    return {
        **software(name, runtime, precision, layout, compile, threads),
        **filled(
            {
                "device": device,
                "kind": "cpu",
                "peak_gflops": round(gflops, 2),
                "memory_gb_per_s": sheet["memory_gb_per_s"],
                "last_level_cache_mb": sheet["l3_mb"] or l2_mb,
                "clock_mhz": clock(used[0][2]),
                "cores": sum(c[1] for c in used),
                "vector_bits": CORES[used[0][0]]["vector_bits"],
                "l2_cache_mb": l2_mb,
            }
        ),
    }
