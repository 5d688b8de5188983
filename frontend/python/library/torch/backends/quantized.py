supported_engines = ["fbgemm", "none"]
engine = "fbgemm"
