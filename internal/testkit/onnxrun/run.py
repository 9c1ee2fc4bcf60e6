"""Checks ONNX models with PyPI's onnx and runs them with onnxruntime: jobs as JSON on standard input, results on standard
output. onnxrun.go says what they are."""

import base64
import json
import sys

import numpy as np
import onnx
import onnxruntime


def array(a):
    return np.frombuffer(base64.b64decode(a["data"]), a["type"]).reshape(a["shape"] or ())


def job(j):
    with open(j["model"], "rb") as f:
        data = f.read()
    model = onnx.load_from_string(data)
    onnx.checker.check_model(model, full_check=True)
    shapes = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    wanted = [o.name for o in model.graph.output]
    for name in j.get("inside") or []:  # values inside of the graph
        model.graph.output.append(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None))
        wanted.append(name)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    runs = []
    for inputs in j["runs"]:
        out = session.run(wanted, {name: array(a) for name, a in inputs.items()})
        runs.append({n: {"type": o.dtype.str, "shape": o.shape, "data": base64.b64encode(np.ascontiguousarray(o)).decode()} for n, o in zip(wanted, out)})
    dims = {o.name: [d.dim_param or d.dim_value for d in o.type.tensor_type.shape.dim] for o in shapes.graph.output}
    metadata = {p.key: p.value for p in model.metadata_props}
    return {"runs": runs, "shapes": {n: [str(d) for d in s] for n, s in dims.items()}, "metadata": metadata}


results = []
for j in json.load(sys.stdin):
    try:
        results.append(job(j))
    except Exception as e:  # said by the test, with the job's name
        results.append({"error": f"{type(e).__name__}: {e}"})
json.dump(results, sys.stdout)
