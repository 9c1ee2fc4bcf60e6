"""Makes messages.onnx by PyPI's onnx (1.23.2), with every field that is written here: messages_test.go has the same in Go.

    python make.py messages.onnx
"""

import sys

from onnx import TensorProto, helper

dims = lambda name, of, shape: helper.make_tensor_value_info(name, of, shape)
nodes = [
    helper.make_node("Transpose", ["x"], ["y"], name="first/Transpose", perm=[1, 0, -1]),
    helper.make_node("Custom", ["y", "", "w"], ["a", "b"], number=-5, factor=0.5, text="क"),
    helper.make_node("Nothing", [], ["c"]),
]
graph = helper.make_graph(
    nodes,
    "g",
    [dims("x", TensorProto.FLOAT, ["B", 3, 0]), dims("n", TensorProto.INT64, [])],
    [dims("a", TensorProto.DOUBLE, [1 << 40, "T"])],
    [
        helper.make_tensor("w", TensorProto.FLOAT16, [2, 1], b"\x00\x3c\x00\xc0", raw=True),
        helper.make_tensor("s", TensorProto.INT8, [], b"\xff", raw=True),
        helper.make_tensor("none", TensorProto.FLOAT, [0], b"", raw=True),
    ],
)
model = helper.make_model(graph, producer_name="p", producer_version="v", doc_string="d", ir_version=8,
                          opset_imports=[helper.make_opsetid("", 17)])
model.opset_import[0].ClearField("domain")
for key, value in (("k", ""), ("किल्ली", "मोल")):
    p = model.metadata_props.add()
    p.key, p.value = key, value
with open(sys.argv[1], "wb") as f:
    f.write(model.SerializeToString(deterministic=True))
